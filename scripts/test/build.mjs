// Builds what the tests start: the program as users run it, and the programs of test/support/programs.
import { fileURLToPath } from 'node:url';
import { buildAll } from '../build/build.mjs';
import { bundle } from '../build/bundle.mjs';

export async function buildForTests() {
  await buildAll();
  await bundle({ entryPoints: ['test/support/programs/*.ts'], outdir: 'dist/test' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildForTests();
