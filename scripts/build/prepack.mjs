// Run by npm before packing, so that the package is built from the packed sources.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUp } from '../setup.mjs';

if (!existsSync(fileURLToPath(new URL('../../node_modules/typescript', import.meta.url)))) setUp();
const [{ buildAll }, { emitTypes }] = await Promise.all([import('./build.mjs'), import('./types.mjs')]);
await buildAll();
emitTypes();
