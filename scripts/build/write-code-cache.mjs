// Run by the build: serves one connection and stores the code that V8 compiled for it.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadForCache } from '../../dist/load-program.js';

const { exports, cachePath, createCache } = loadForCache(
  fileURLToPath(new URL('../../dist/program.cjs', import.meta.url)),
);
process.on('exit', () => writeFileSync(cachePath, createCache()));
await exports.run([]);
