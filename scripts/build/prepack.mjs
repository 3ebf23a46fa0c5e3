// Run by npm before packing, so that the package is built from the packed sources.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { setUp } from '../setup.mjs';

if (!existsSync(fileURLToPath(new URL('../../node_modules/typescript', import.meta.url)))) setUp();
const [{ buildAll }, { emitTypes }] = await Promise.all([import('./build.mjs'), import('./types.mjs')]);
await buildAll();
emitTypes();
// man reads it compressed, and it takes a quarter of the room.
const page = fileURLToPath(new URL('../../man/colibri.1', import.meta.url));
writeFileSync(
  fileURLToPath(new URL('../../dist/colibri.1.gz', import.meta.url)),
  gzipSync(readFileSync(page), { level: 9 }),
);
