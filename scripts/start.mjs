// `npm start`: installs and builds what is missing, then runs the server.
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUpBuild } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

setUpBuild();
if (newest(`${root}src`) > builtAt()) {
  console.error('colibri: building');
  const { buildAll } = await import('./build/build.mjs');
  await buildAll();
}
process.argv[1] = `${root}dist/colibri.cjs`;
// Serves on a terminal too, where the program without arguments would show the board.
if (process.argv.length === 2) process.argv.push('serve');
await import('../dist/colibri.cjs');

function newest(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (latest, { parentPath, path, name }) => Math.max(latest, statSync(`${parentPath ?? path}/${name}`).mtimeMs),
      0,
    );
}

function builtAt() {
  return statSync(`${root}dist/colibri.cjs`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
