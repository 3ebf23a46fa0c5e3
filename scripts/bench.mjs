// `npm run bench`: what a call costs, as ratios to a floor measured in the same run. Arguments are passed to bench/run.ts.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildAll } from './build.mjs';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

await buildAll();
await bundle({
  entryPoints: ['run', 'bare-loop', 'floor-server', 'house-server'].map((name) => `bench/${name}.ts`),
  outdir: 'dist/bench',
});
const { status } = spawnSync(process.execPath, ['dist/bench/run.js', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
