// `npm run bench`: what a call costs, as ratios to a floor measured in the same run. Arguments are passed to bench/run.ts,
// or to bench/postgres.ts after the word postgres.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildAll } from './build.mjs';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

await buildAll();
await bundle({
  entryPoints: ['run', 'bare-loop', 'floor-server', 'house-server', 'postgres', 'postgres-bare'].map(
    (name) => `bench/${name}.ts`,
  ),
  outdir: 'dist/bench',
});
const isPostgres = process.argv[2] === 'postgres';
const [program, args] = isPostgres ? ['postgres', process.argv.slice(3)] : ['run', process.argv.slice(2)];
const { status } = spawnSync(process.execPath, [`dist/bench/${program}.js`, ...args], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
