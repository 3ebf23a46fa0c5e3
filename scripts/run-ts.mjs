// Runs a TypeScript file of this repository: node scripts/run-ts.mjs bench/scale.ts [arguments]

import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

setUp();
const { bundle } = await import('./build/bundle.mjs');
const [file, ...args] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const outdir = `${root}dist/run`;
const outfile = `${outdir}/${basename(file, '.ts')}.js`;
await bundle({ entryPoints: [file], outfile });
// Verification loads its worker from the folder of the program.
await bundle({ entryPoints: ['src/verification/fast/hash-worker.ts'], outdir });
process.argv = [process.argv[0], outfile, ...args];
await import(outfile);
