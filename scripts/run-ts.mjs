// Runs a TypeScript file of this repository: node scripts/run-ts.mjs bench/scale.ts [arguments]

import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const [file, ...args] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const outfile = `${root}dist/run/${basename(file, '.ts')}.js`;
await build({
  absWorkingDir: root,
  entryPoints: [file],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  loader: { '.sql': 'text' },
  logLevel: 'warning',
});
process.argv = [process.argv[0], outfile, ...args];
await import(outfile);
