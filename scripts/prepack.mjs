// Run by npm before it packs: a package is built from the sources that it is packed with.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

if (!existsSync(fileURLToPath(new URL('../node_modules', import.meta.url)))) setUp();
const [{ buildAll }, { emitTypes }] = await Promise.all([import('./build.mjs'), import('./types.mjs')]);
await buildAll();
emitTypes();
