import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseError } from '../../database.ts';
import { loadSqlite, type SqliteDriver } from '../driver.ts';
import { explainFault } from '../errors.ts';
import { isLocked, listPresenceFiles } from './presence.ts';

/** Whether a live server has this file open. Uses the presence files, which remain even if the file was deleted. */
export async function isServed(path: string): Promise<boolean> {
  const sqlite = await loadSqlite();
  if (!existsSync(dirname(path))) return false;
  const databasePath = join(realpathSync(dirname(path)), basename(path));
  return listPresenceFiles(databasePath).some((file) => isLocked(sqlite, file));
}

export interface Replacement {
  readonly target: string;
  /** A finished database on the same disk; it takes the target's name. */
  readonly staged: string;
  /** Gets the replaced file, byte for byte. */
  readonly kept: string;
  /** Replaces the target only if it has this many entries; undefined skips the check. */
  readonly size: number | undefined;
}

/** The highest possible version: a process that waited for the replaced file refuses to use it. */
const UNUSABLE_VERSION = 2 ** 31 - 1;

/**
 * Replaces a database that no other process has open, atomically. A process that opens the target in the meantime waits
 * for the lock on the old file, and would then write its log beside the new one; so the old file, which has no name any
 * more, is made unusable before the lock is released.
 */
export async function replaceSqlite({ target, staged, kept, size }: Replacement): Promise<void> {
  const sqlite = await loadSqlite();
  // Closing any descriptor of a file drops all locks of this process on it, so this one is closed last.
  const file = openSync(target, 'r');
  try {
    const driver = sqlite.open(target, { readOnly: false });
    try {
      lockAlone(driver, target);
      assertSize(driver, target, size);
      copyOpen(file, kept);
      renameSync(staged, target);
      driver.exec(`PRAGMA user_version = ${UNUSABLE_VERSION}; COMMIT`);
    } finally {
      driver.close();
    }
  } catch (error) {
    throw explainFault(target, sqlite.faultOf(error), error);
  } finally {
    closeSync(file);
  }
}

/** For a target that SQLite cannot read, and therefore not lock. Moves its side files too. */
export function replaceDamaged({ target, staged, kept }: Omit<Replacement, 'size'>): void {
  linkSync(target, kept);
  moveSideFiles(target, kept);
  renameSync(staged, target);
}

/** SQLite would apply side files of an older database to the new one. */
export function moveSideFiles(target: string, kept: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${target}${suffix}`)) renameSync(`${target}${suffix}`, `${kept}${suffix}`);
  }
}

/** Checkpoints everything into the one file, which SQLite allows only to the last open connection. */
function lockAlone(driver: SqliteDriver, target: string): void {
  driver.exec('PRAGMA busy_timeout = 0; PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE');
  // From here on no journal may appear beside the target: SQLite would apply it to the new file.
  driver.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  // A process that connected in between may have restored WAL mode, in which this lock excludes no process.
  const [mode] = driver.prepare('PRAGMA journal_mode').all([]) as { journal_mode: string }[];
  if (mode?.journal_mode !== 'memory') throw new DatabaseError('busy', `${target} is open in another process`);
}

function assertSize(driver: SqliteDriver, target: string, expected: number | undefined): void {
  if (expected === undefined) return;
  const hasHead = driver.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'ledger_head'").all([]).length > 0;
  const [head] = (hasHead ? driver.prepare('SELECT size FROM ledger_head').all([]) : []) as { size: number }[];
  if ((head?.size ?? 0) !== expected)
    throw new DatabaseError('busy', `${target} was changed by another process`, { advice: 'try again' });
}

const CHUNK_BYTES = 1 << 20;

function copyOpen(source: number, target: string): void {
  const copy = openSync(target, 'wx', 0o600);
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let position = 0; ; ) {
      const length = readSync(source, chunk, 0, CHUNK_BYTES, position);
      if (length === 0) break;
      for (let written = 0; written < length; ) written += writeSync(copy, chunk, written, length - written);
      position += length;
    }
    fsyncSync(copy);
  } catch (error) {
    rmSync(target);
    throw error;
  } finally {
    closeSync(copy);
  }
}
