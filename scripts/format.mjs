// `npm run format`: formats the code.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setUpPackages } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

setUpPackages();
const biome = `${root}node_modules/@biomejs/biome/bin/biome`;
const { status } = spawnSync(process.execPath, [biome, 'check', '--write', '.', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
