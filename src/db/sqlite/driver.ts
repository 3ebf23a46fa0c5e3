import type { SqlValue } from '../database.ts';
import type { SqliteFault } from './errors.ts';
import { assertNoJournal } from './files/journal.ts';

/** The little that the adapter needs of an SQLite library. Every call is synchronous and throws the library's error. */
export interface SqliteDriver {
  /** Runs a text of one or more statements without parameters. */
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  /** Returns the rows, or none for a statement that yields none. Parameters bind by position. */
  all(parameters: readonly SqlValue[]): unknown[];
  /** The names of the columns of its rows. */
  columns(): readonly string[];
}

export interface SqliteLibrary {
  open(path: string, options: { readonly readOnly: boolean }): SqliteDriver;
  faultOf(error: unknown): SqliteFault;
}

/** Node 22.16 and later bring SQLite along with its full-text search; before that an add-on does. */
export async function loadSqlite(): Promise<SqliteLibrary> {
  if (hasBuiltInSqlite(process.versions.node)) return guarded((await import('./node-sqlite.ts')).nodeSqlite);
  return guarded((await import('./better-sqlite3.ts')).betterSqlite);
}

/** Every open goes through here, so that no journal is played back unseen. */
function guarded(library: SqliteLibrary): SqliteLibrary {
  return {
    ...library,
    open: (path, options) => {
      assertNoJournal(path);
      return library.open(path, options);
    },
  };
}

export function hasBuiltInSqlite(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  return major > 23 || (major === 22 && minor >= 16);
}

/** Primary result codes: https://www.sqlite.org/rescode.html */
const FAULTS: Readonly<Record<string, SqliteFault>> = {
  SQLITE_PERM: 'readonly',
  SQLITE_BUSY: 'busy',
  SQLITE_LOCKED: 'busy',
  SQLITE_READONLY: 'readonly',
  SQLITE_IOERR: 'unavailable',
  SQLITE_CORRUPT: 'corrupt',
  SQLITE_FULL: 'full',
  SQLITE_CANTOPEN: 'unavailable',
  SQLITE_PROTOCOL: 'busy',
  SQLITE_NOTADB: 'corrupt',
};

const CODE_NAMES: Readonly<Record<number, string>> = {
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  26: 'SQLITE_NOTADB',
};

/** Extended codes carry the primary one in their first two words or their low byte. */
export function faultOfName(code: string): SqliteFault {
  return FAULTS[code.split('_').slice(0, 2).join('_')] ?? 'other';
}

export function faultOfNumber(code: number): SqliteFault {
  return faultOfName(CODE_NAMES[code % 256] ?? '');
}
