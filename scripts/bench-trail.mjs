// Bundles bench/trail.ts and runs it. Arguments: the name of one part, to run that alone.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
await build({
  absWorkingDir: root,
  entryPoints: ['bench/trail.ts'],
  outdir: 'dist/bench',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  loader: { '.sql': 'text' },
  logLevel: 'warning',
});
const args = ['--expose-gc', `${root}dist/bench/trail.js`, ...process.argv.slice(2)];
process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1);
