// `npm run torture [-- options]`: runs torture/run.ts on the built program.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

setUp();
const [{ bundle }, { buildForTests }] = await Promise.all([import('./build/bundle.mjs'), import('./test/build.mjs')]);
await buildForTests();
await bundle({
  entryPoints: ['torture/run.ts', 'src/verification/fast/hash-worker.ts'],
  outdir: 'dist/torture',
  outbase: '.',
  entryNames: '[name]',
});
const { status } = spawnSync(process.execPath, ['dist/torture/run.js', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
