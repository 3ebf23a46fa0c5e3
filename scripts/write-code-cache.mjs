// Run by the build: serves one connection and stores the code that V8 compiled for it.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { loadForCache } from '../dist/load-program.js';

const { exports, cachePath, createCache } = loadForCache(
  fileURLToPath(new URL('../dist/program.cjs', import.meta.url)),
);
process.on('exit', () => {
  // V8 rejects code compiled under other flags than those at startup, and the server sets one.
  if (Number.parseInt(process.versions.v8, 10) < 12) setFlagsFromString('--interrupt-budget=67584');
  writeFileSync(cachePath, createCache());
});
await exports.run([]);
