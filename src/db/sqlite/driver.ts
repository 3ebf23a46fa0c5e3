import type { SqlValue } from '../database.ts';
import type { SqliteFault } from './errors.ts';
import { assertNoJournal } from './files/journal.ts';

/** An open connection of an SQLite library. Every method is synchronous and throws the library's own error. */
export interface SqliteDriver {
  /** Runs a script of one or more statements without parameters. */
  exec(sql: string): void;
  /** Compiles one statement, which stays valid until `close`. */
  prepare(sql: string): SqliteStatement;
  /** Releases every lock. Closing twice is an error. */
  close(): void;
}

export interface SqliteStatement {
  /** Runs the statement and returns all rows, or an empty array. Parameters bind by position. */
  all(parameters: readonly SqlValue[]): unknown[];
  /** The names of the result columns. */
  columns(): readonly string[];
}

/** An SQLite library. Both implementations return the same rows for the same file. */
export interface SqliteLibrary {
  /** Fails on a busy lock after the busy timeout, which is 0 until a pragma sets it. */
  open(path: string, options: { readonly readOnly: boolean }): SqliteDriver;
  /** Classifies an error that a driver threw; `other` for every other value. */
  faultOf(error: unknown): SqliteFault;
}

/** Node 22.16 and later include SQLite with full-text search; older versions need the add-on. */
export async function loadSqlite(): Promise<SqliteLibrary> {
  if (hasBuiltInSqlite(process.versions.node)) return guarded((await import('./node-sqlite.ts')).nodeSqlite);
  return guarded((await import('./better-sqlite3.ts')).betterSqlite);
}

/** Checks every file before it is opened, so that SQLite never plays back an unknown journal. */
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

/** An extended code contains the primary one: in the first two words of its name, or in its low byte. */
export function faultOfName(code: string): SqliteFault {
  return FAULTS[code.split('_').slice(0, 2).join('_')] ?? 'other';
}

export function faultOfNumber(code: number): SqliteFault {
  return faultOfName(CODE_NAMES[code % 256] ?? '');
}
