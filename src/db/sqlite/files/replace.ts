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
import { isPresent, listPresenceFiles } from './presence.ts';

/** Whether a live server has this file open. Asks the presence files, which outlive even the deletion of the file. */
export async function isServed(path: string): Promise<boolean> {
  const sqlite = await loadSqlite();
  if (!existsSync(dirname(path))) return false;
  const databasePath = join(realpathSync(dirname(path)), basename(path));
  return listPresenceFiles(databasePath).some((file) => isPresent(sqlite, file));
}

export interface Replacement {
  readonly target: string;
  /** A finished database on the same disk; it takes the target's name. */
  readonly staged: string;
  /** Gets the replaced file, byte for byte. */
  readonly kept: string;
  /** How many entries the target must have for this to go ahead; undefined when nobody can tell. */
  readonly size: number | undefined;
}

/** The highest number there is: whoever waited for the replaced file finds one that no version can use. */
const UNUSABLE_VERSION = 2 ** 31 - 1;

/**
 * Puts one database in the place of another that nobody has open, all at once. A process that opens the target
 * meanwhile waits for the lock with the old file in its hands, and would then write its log beside the new one; so the
 * old file, which has no name any more, is made unusable before the lock is dropped.
 */
export async function replaceSqlite({ target, staged, kept, size }: Replacement): Promise<void> {
  const sqlite = await loadSqlite();
  // Closing any descriptor of a file drops all locks that this process has on it, so this one is closed last.
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

/** For a target that SQLite cannot read, and therefore not lock. What belongs to it moves along. */
export function replaceDamaged({ target, staged, kept }: Omit<Replacement, 'size'>): void {
  linkSync(target, kept);
  moveSideFiles(target, kept);
  renameSync(staged, target);
}

/** SQLite would mix what an older database left beside its name into the new one. */
export function moveSideFiles(target: string, kept: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${target}${suffix}`)) renameSync(`${target}${suffix}`, `${kept}${suffix}`);
  }
}

/** Brings everything into the one file. SQLite allows that only to the last one who has it open. */
function lockAlone(driver: SqliteDriver, target: string): void {
  driver.exec('PRAGMA busy_timeout = 0; PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE');
  // From here on no journal may appear beside the target: it would be taken for one of the new file.
  driver.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  // Somebody who came between the two has brought the write-ahead log back, under which this lock keeps nobody out.
  const [mode] = driver.prepare('PRAGMA journal_mode').all([]) as { journal_mode: string }[];
  if (mode?.journal_mode !== 'memory') throw new DatabaseError('busy', `${target} is open in another process`);
}

function assertSize(driver: SqliteDriver, target: string, expected: number | undefined): void {
  if (expected === undefined) return;
  const hasHead = driver.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'ledger_head'").all([]).length > 0;
  const [head] = (hasHead ? driver.prepare('SELECT size FROM ledger_head').all([]) : []) as { size: number }[];
  if ((head?.size ?? 0) !== expected)
    throw new DatabaseError('busy', `${target} has changed meanwhile`, { advice: 'try again' });
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
