// `npm run bench`: what a call costs, as ratios to a floor measured in the same run. Arguments are passed to bench/run.ts,
// or after the name of another program, such as postgres or contention, to that.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildAll } from './build.mjs';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

await buildAll();
await bundle({
  entryPoints: ['run', 'bare-loop', 'echo-server', 'minimal-server', 'postgres', 'postgres-bare', 'contention'].map(
    (name) => `bench/${name}.ts`,
  ),
  outdir: 'dist/bench',
});
const isNamed = ['postgres', 'contention'].includes(process.argv[2]);
const [program, args] = isNamed ? [process.argv[2], process.argv.slice(3)] : ['run', process.argv.slice(2)];
const { status } = spawnSync(process.execPath, [`dist/bench/${program}.js`, ...args], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
