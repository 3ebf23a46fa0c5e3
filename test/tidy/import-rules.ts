import { computedImportsOf, importsOf, resolveImport } from './imports.ts';

/** Values and types without I/O that every room may import. */
const NOUNS = ['errors', 'ids', 'fields', 'log', 'modes', 'fifo-lock', 'terminal-text', 'text', 'version'];
const PORT = 'db/database';
const DIALECT = 'db/dialect';

/** What a tool may call of verification; how it verifies is not its business. */
const VERIFIERS = ['verification/chain-report', 'verification/verify-targets'];

/** What wires the rooms together; it may import every room. */
const WIRING = ['server', 'surface', 'cli'];

/**
 * Every allowed edge between rooms: what the files below a path may import beside their own room and the nouns. The
 * longest matching path decides. A file that neither this table nor WIRING covers may import nothing.
 */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  integrity: [],
  errors: ['integrity'],
  ids: ['integrity'],
  version: ['integrity'],
  fields: [],
  text: [],
  log: [],
  modes: ['tool'],
  'fifo-lock': [],
  'terminal-text': [],
  'print-error': [],
  files: [],
  'current-folder': [],
  'home-folder': [],
  config: ['db/postgres/url', 'home-folder', 'integrity'],
  context: [PORT],
  tool: ['context'],
  envelope: ['tool'],
  'db/database': [],
  'db/before-each-statement': ['db/database'],
  'db/dialect': ['db/database'],
  'db/migrate': ['db/database', 'db/migrations'],
  'db/process-id': ['integrity'],
  'db/sqlite': [
    'db/database',
    'db/migrate',
    'db/process-id',
    'db/file-owner',
    'db/schema/difference',
    'files',
    'integrity/parse-json',
  ],
  'db/postgres': ['db/database', 'db/migrate', 'db/process-id', 'db/schema/difference', 'integrity'],
  'db/schema': ['db', 'integrity'],
  db: ['config', 'files', 'git', 'integrity'],
  ledger: [PORT, DIALECT, 'db/migrate', 'db/process-id', 'integrity', 'middleware/audit'],
  verification: [PORT, 'db/migrate', 'db/schema', 'domains/tasks', 'domains/trail', 'integrity', 'ledger'],
  git: ['config'],
  checkpoints: [PORT, 'config', 'db/file-owner', 'integrity', 'ledger', 'trust/private-file'],
  witnesses: [PORT, 'config', 'integrity', 'ledger', 'trust/private-file'],
  trust: [
    'checkpoints/signed-locations',
    'checkpoints/remembered',
    'config',
    'files',
    'db',
    'git',
    'integrity',
    'ledger',
    'verification/verify-ledger',
  ],
  copy: [PORT, 'db/migrate', 'db/sqlite/tables', 'domains/tasks', 'ledger'],
  recorder: [
    PORT,
    DIALECT,
    'config',
    'db/file-owner',
    'db/locate',
    'db/process-id',
    'domains/tasks/workflows',
    'git',
    'home-folder',
    'integrity',
    'ledger',
    'print-error',
    'files',
  ],
  'recorder/own-spool': ['recorder/spool', 'trust/find-tracked'],
  'domains/tasks': [
    PORT,
    DIALECT,
    'config',
    'context',
    'domains/evidence',
    'domains/trail',
    'integrity',
    'ledger',
    'tool',
  ],
  'domains/evidence': [PORT, 'domains/trail', 'git', 'integrity'],
  'domains/trail': [PORT, 'context', 'integrity', 'ledger', 'tool'],
  'domains/trail/tools': [PORT, 'tool', ...VERIFIERS],
  'domains/proofs': [PORT, 'context', 'domains/trail', 'integrity', 'ledger', 'tool'],
  'domains/proofs/tools': ['domains/trail', 'integrity', 'tool', ...VERIFIERS],
  'domains/redaction': [PORT, 'domains/tasks', 'integrity', 'ledger'],
  'domains/brief': [PORT, 'context', 'domains/tasks', 'domains/trail', 'integrity', 'ledger', 'middleware/library'],
  'domains/skills': ['context', 'tool'],
  'domains/system': [PORT, 'context', 'ledger', 'tool'],
  middleware: [PORT, 'db/before-each-statement', 'context', 'envelope', 'integrity', 'tool'],
  runtime: [
    'checkpoints',
    'config',
    PORT,
    'db/locate',
    'db/process-id',
    'domains/skills/repository',
    'ledger',
    'middleware',
    'recorder',
    'trust',
    'witnesses',
  ],
  'runtime/ingest-after-hook': ['checkpoints', 'db', 'recorder', 'trust'],
  wire: [
    'context',
    'envelope',
    'integrity',
    'middleware/call',
    'middleware/chain',
    'middleware/library',
    'middleware/read-snapshot',
    'tool',
  ],
};

/**
 * Inside the room of verification: the fast path proves and never reports, so it imports nothing that has a report; the
 * reference does not depend on the fast path.
 */
const SEPARATED: Readonly<Record<string, (target: string) => boolean>> = {
  'verification/fast': (target) => isBelow(target, 'verification') && !isBelowAny(target, KNOWN_TO_FAST),
  'verification/reference': (target) => isBelow(target, 'verification/fast'),
};

const KNOWN_TO_FAST = [
  'verification/fast',
  'verification/hashing',
  'verification/last-link-cache',
  'verification/latin1-text',
  'verification/leaf-check',
  'verification/log-tree',
  'verification/page-proof',
  'verification/redactions/finder',
  'verification/stored-page',
];

/** Packages that only some rooms may import, so that an engine, a protocol or a disk is known in one place. */
const PACKAGES: readonly (readonly [package_: RegExp, rooms: readonly string[]])[] = [
  [/^(?:pg|pgpass)(?:\/|$)/, ['db/postgres']],
  [/^(?:better-sqlite3|node:sqlite)$/, ['db/sqlite']],
  [/^@modelcontextprotocol\//, ['server', 'wire']],
  [/^(?:commander|jsonc-parser|smol-toml)$/, ['cli']],
  [/^yaml$/, ['domains/skills']],
  [
    /^(?:node:)?(?:fs|child_process|net|tls|http2?|https|dgram|dns|os|cluster)(?:\/|$)/,
    [
      'checkpoints/signed-locations',
      'checkpoints/remembered',
      'checkpoints/signing-key',
      'cli',
      'current-folder',
      'files',
      'db',
      'domains/skills/repository',
      'git',
      'home-folder',
      'recorder/plugins',
      'recorder/random-hex',
      'recorder/hook',
      'recorder/input',
      'recorder/spool',
      'recorder/spool-reserve',
      'recorder/spool-watcher',
      'runtime/ingest-after-hook',
      'recorder/transcripts/open-transcript',
      'server/is-main',
      'trust',
      'verification',
      'version',
      'witnesses',
    ],
  ],
];

/** Loads the bundled program by its path. */
const MAY_COMPUTE_IMPORTS = 'src/cli/load-program.ts';

/** The one place for hashes and the one for signatures: Node's in one file, a portable one in the other. */
const HASH_FILES: Readonly<Record<string, RegExp>> = {
  'src/integrity/sha256.ts': /^node:crypto$/,
  'src/integrity/sha256.browser.ts': /^@noble\/hashes(?:\/|$)/,
  'src/integrity/notes/ed25519.ts': /^node:crypto$/,
  'src/integrity/notes/ed25519.browser.ts': /^@noble\/(?:curves|hashes)(?:\/|$)/,
};

/** Returns the imports that the tables above do not allow; tests may import anything. */
export function findForeignImports(path: string, text: string): string[] {
  if (path.endsWith('.test.ts')) return [];
  const computed = path.startsWith('src/') && path !== MAY_COMPUTE_IMPORTS ? computedImportsOf(text) : [];
  return [
    ...(isInRoom(path) ? [] : ['is in no room: add it to test/tidy/import-rules.ts']),
    ...computed.map((expression) => `imports what no rule can check: ${expression}`),
    ...importsOf(text)
      .filter((name) => !mayImport(path, name))
      .map((name) => `imports ${name}`),
  ];
}

function mayImport(path: string, name: string): boolean {
  const target = name.startsWith('.') ? resolveImport(path, name) : name;
  if (path.startsWith('src/integrity/') && !target.startsWith('src/')) return HASH_FILES[path]?.test(target) ?? false;
  if (path.startsWith('web/')) return !target.startsWith('src/') || target.startsWith('src/integrity/');
  if (!path.startsWith('src/')) return true;
  const own = path.slice('src/'.length);
  if (!name.startsWith('.'))
    return PACKAGES.every(([package_, rooms]) => !package_.test(name) || rooms.some((room) => isBelow(own, room)));
  if (isBelowAny(own, WIRING) || !target.startsWith('src/')) return true;
  const isSeparated = Object.entries(SEPARATED).some(
    ([room, isForbidden]) => isBelow(own, room) && isForbidden(target.slice('src/'.length)),
  );
  if (isSeparated) return false;
  const room = findRoom(own);
  const open = [roomFolder(own), ...(room === 'integrity' ? [] : NOUNS), ...(room === undefined ? [] : edgesOf(room))];
  return isBelowAny(target.slice('src/'.length), open);
}

function isInRoom(path: string): boolean {
  if (!/^src\/.*\.ts$/.test(path)) return true;
  const own = path.slice('src/'.length);
  return isBelowAny(own, WIRING) || findRoom(own) !== undefined;
}

function findRoom(own: string): string | undefined {
  const rooms = Object.keys(EDGES).filter((edge) => isBelow(own, edge));
  return rooms.sort((left, right) => right.length - left.length)[0];
}

function edgesOf(room: string): readonly string[] {
  return EDGES[room] ?? [];
}

/** A file's own folder tree; a domain and an engine are rooms of their own. */
function roomFolder(path: string): string {
  return /^(?:(?:domains|db)\/[^/]+(?=\/)|[^/]+)/.exec(path)?.[0] ?? path;
}

function isBelowAny(path: string, edges: readonly string[]): boolean {
  return edges.some((edge) => isBelow(path, edge));
}

function isBelow(path: string, edge: string): boolean {
  return path === `${edge}.ts` || path.startsWith(`${edge}/`);
}
