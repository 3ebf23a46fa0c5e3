import { importsOf, resolveImport } from './imports.ts';

/** Values and types without I/O that every room may import. */
const NOUNS = ['errors', 'ids', 'fields', 'log', 'modes', 'fifo-lock', 'terminal-text', 'version'];
const PORT = 'db/database';

/**
 * Every allowed edge between rooms: what the files below a path may import beside their own room and the nouns.
 * The longest matching path decides. A room that is not listed (server.ts, surface.ts, cli) wires the others.
 */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  integrity: [],
  errors: ['integrity'],
  ids: ['integrity'],
  version: ['integrity'],
  fields: [],
  log: [],
  modes: ['tool'],
  'fifo-lock': [],
  'terminal-text': [],
  'print-error': [],
  'create-folders': [],
  'home-folder': [],
  config: ['db/postgres/url', 'home-folder', 'integrity'],
  context: [PORT],
  tool: ['context'],
  envelope: ['tool'],
  'db/database': [],
  'db/migrate': ['db/database', 'db/migrations'],
  'db/process-id': ['integrity'],
  'db/sqlite': ['db/database', 'db/migrate', 'db/process-id', 'db/file-owner'],
  'db/postgres': ['db/database', 'db/migrate', 'db/process-id'],
  'db/schema': ['db', 'integrity'],
  db: ['config', 'create-folders', 'trust', 'integrity'],
  ledger: [PORT, 'db/migrate', 'integrity', 'middleware/audit'],
  verification: [
    PORT,
    'db/migrate',
    'db/schema',
    'db/sqlite/strict-select',
    'domains/tasks',
    'domains/trail',
    'integrity',
    'ledger',
  ],
  trust: ['config', 'create-folders', 'db', 'integrity', 'ledger', 'verification/verify-ledger'],
  copy: [PORT, 'db/migrate', 'domains/tasks', 'ledger'],
  'domains/tasks': [PORT, 'config', 'context', 'domains/trail', 'integrity', 'ledger', 'tool'],
  'domains/trail': [PORT, 'context', 'integrity', 'ledger', 'tool'],
  'domains/trail/tools': [PORT, 'tool', 'verification'],
  'domains/proofs': [PORT, 'context', 'domains/trail', 'integrity', 'ledger', 'tool'],
  'domains/proofs/tools': ['domains/trail', 'tool', 'verification'],
  'domains/skills': ['context', 'tool'],
  'domains/system': [PORT, 'context', 'ledger', 'tool'],
  middleware: [PORT, 'context', 'envelope', 'integrity', 'runtime/runtime', 'tool'],
  runtime: ['config', PORT, 'db/open', 'domains/skills/repository', 'ledger', 'middleware', 'trust'],
  wire: ['context', 'integrity', 'middleware/chain', 'tool'],
};

/** The one place for a hash function: Node's in one file, a portable one in the other. */
const HASH_FILES: Readonly<Record<string, RegExp>> = {
  'src/integrity/sha256.ts': /^node:crypto$/,
  'src/integrity/sha256.browser.ts': /^@noble\/hashes(?:\/|$)/,
};

/** Returns the imports that the edges above do not allow; tests may import anything. */
export function findForeignImports(path: string, text: string): string[] {
  if (path.endsWith('.test.ts')) return [];
  return importsOf(text)
    .filter((name) => !mayImport(path, name))
    .map((name) => `imports ${name}`);
}

function mayImport(path: string, name: string): boolean {
  const target = name.startsWith('.') ? resolveImport(path, name) : name;
  if (path.startsWith('src/integrity/') && !target.startsWith('src/')) return HASH_FILES[path]?.test(target) ?? false;
  if (path.startsWith('web/')) return !target.startsWith('src/') || target.startsWith('src/integrity/');
  if (!path.startsWith('src/') || !target.startsWith('src/')) return true;
  const own = path.slice('src/'.length);
  const room = Object.keys(EDGES)
    .filter((edge) => isBelow(own, edge))
    .sort((left, right) => right.length - left.length)[0];
  if (room === undefined) return true;
  const open = [roomFolder(own), ...(room === 'integrity' ? [] : NOUNS), ...(EDGES[room] ?? [])];
  return open.some((edge) => isBelow(target.slice('src/'.length), edge));
}

/** A file's own folder tree; a domain and an engine are rooms of their own. */
function roomFolder(path: string): string {
  return /^(?:(?:domains|db)\/[^/]+(?=\/)|[^/]+)/.exec(path)?.[0] ?? path;
}

function isBelow(path: string, edge: string): boolean {
  return path === `${edge}.ts` || path.startsWith(`${edge}/`);
}
