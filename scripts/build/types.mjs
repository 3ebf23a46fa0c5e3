// Writes the library's types to dist/types: only what its two entry points reach.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'dist/types');
const ENTRIES = ['server.d.ts', 'integrity/index.d.ts'];
const COMMENT = /^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm;
const EXPORTED = /\bexport\s[^;]*?\sfrom\s*["'](\.[^"'\n]+)\.ts["']/g;
const RELATIVE = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(\.[^"'\n]+)\.ts\2/g;

export function emitTypes() {
  rmSync(folder, { recursive: true, force: true });
  const { status } = spawnSync(`${root}node_modules/.bin/tsc`, ['-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('the types could not be written; the messages of the compiler are above');
  const entries = ENTRIES.map((entry) => join(folder, entry));
  // What a user of the library can name; comments elsewhere are for those who read the sources.
  const named = new Set([...entries, ...entries.flatMap((entry) => list(entry, EXPORTED))]);
  const kept = new Set(entries);
  for (const path of kept) for (const found of rewriteImports(path, named.has(path))) kept.add(found);
  for (const path of listFiles()) if (!kept.has(path)) rmSync(path);
}

/** The files that a file names in matches of a pattern, whose last group is the name. */
function list(path, pattern) {
  const names = [...readFileSync(path, 'utf8').matchAll(pattern)].map((match) => match.at(-1));
  return names.map((name) => join(dirname(path), `${name}.d.ts`));
}

/** The compiler keeps `.ts` in declarations, but a user's compiler expects the names of existing files. */
function rewriteImports(path, isDocumented) {
  const text = readFileSync(path, 'utf8');
  const found = list(path, RELATIVE);
  const documented = isDocumented ? text : text.replaceAll(COMMENT, '');
  const indented = documented.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4));
  writeFileSync(path, indented.replaceAll(RELATIVE, '$1$2$3.js$2'));
  const missing = found.find((target) => !existsSync(target));
  if (missing !== undefined) throw new Error(`${path} imports ${missing}, which was not written`);
  return found;
}

function listFiles() {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => join(folder, name));
}
