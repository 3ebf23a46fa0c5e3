import { existsSync, lstatSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOwnedByOther } from '../../file-owner.ts';
import { isProcessId } from '../../process-id.ts';
import type { SqliteDriver, SqliteLibrary } from '../driver.ts';
import { createForOwnerOnly } from './file.ts';

/**
 * Tells live processes from dead ones by a lock on a file per process, which the operating system releases when the
 * process ends. Process numbers are reused and mean nothing across containers; heartbeats need honest clocks.
 *
 * Every database path here is a real path: processes that reach one file through different links must see each other.
 */
export interface Presence {
  /** Whether the file is gone, which makes the process look dead. Looks at most once a second of this clock. */
  isRemoved(nowMs: number): boolean;
  /** Creates and locks the file. Throws a busy error while another process checks it; the caller retries. */
  begin(): void;
  end(): void;
}

const CHECK_MS = 1000;

const SUFFIX = '.live';

/** The process id must be well-formed: it becomes part of a path. */
export function presencePath(databasePath: string, processId: string): string {
  return `${databasePath}-${processId}${SUFFIX}`;
}

export function createPresence(sqlite: SqliteLibrary, path: string): Presence {
  let driver: SqliteDriver | undefined;
  let checkedMs = performance.now();
  const close = () => {
    driver?.close();
    driver = undefined;
  };
  return {
    isRemoved: (nowMs) => {
      if (nowMs - checkedMs < CHECK_MS) return false;
      checkedMs = nowMs;
      return !existsSync(path);
    },
    begin: () => {
      close();
      createForOwnerOnly(path);
      driver = sqlite.open(path, { readOnly: false });
      try {
        lock(driver);
      } catch (error) {
        close();
        throw error;
      }
    },
    end: () => {
      close();
      rmSync(path, { force: true });
    },
  };
}

/** Removes the file of a dead process. Ignores files that are not presence files of this user. */
export function isPresent(sqlite: SqliteLibrary, path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !isPresenceFile(stats)) return false;
  // Only the owner may open the file. Its process counts as alive, so its calls stay open.
  if (isOwnedByOther(stats)) return true;
  const driver = sqlite.open(path, { readOnly: false });
  try {
    lock(driver);
  } catch (error) {
    if (sqlite.faultOf(error) === 'busy') return true;
    // The process may just have exited and removed the file.
    if (!existsSync(path)) return false;
    throw error;
  } finally {
    driver.close();
  }
  rmSync(path, { force: true });
  return false;
}

/** Whether the process of a presence file is alive. Does not change the file. */
export function isLocked(sqlite: SqliteLibrary, path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !isPresenceFile(stats)) return false;
  if (isOwnedByOther(stats)) return true;
  try {
    const driver = sqlite.open(path, { readOnly: true });
    try {
      driver.prepare('SELECT 1 FROM sqlite_schema').all([]);
      return false;
    } finally {
      driver.close();
    }
  } catch (error) {
    if (sqlite.faultOf(error) === 'busy') return true;
    // The process may just have exited and removed the file.
    if (!existsSync(path)) return false;
    throw error;
  }
}

/**
 * The presence files of this user beside a database, of live and dead processes. Looks at no more than `limit` files.
 */
export function listPresenceFiles(databasePath: string, limit = Number.POSITIVE_INFINITY): string[] {
  const folder = dirname(databasePath);
  const prefix = `${basename(databasePath)}-`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith(SUFFIX))
    .filter((name) => isProcessId(name.slice(prefix.length, -SUFFIX.length)))
    .slice(0, limit)
    .map((name) => join(folder, name))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats !== undefined && isPresenceFile(stats) && !isOwnedByOther(stats);
    });
}

/** Bounds a start beside many files; later starts remove the rest. */
const MAX_REMOVED = 500;

/** Removes files of idle processes that were killed: they left no open call that would lead to their file. */
export function removeDead(sqlite: SqliteLibrary, databasePath: string): void {
  for (const path of listPresenceFiles(databasePath, MAX_REMOVED)) isPresent(sqlite, path);
}

/** A presence file stays empty. Opening a link, a pipe or a database with content could have effects. */
function isPresenceFile(stats: Stats): boolean {
  return stats.isFile() && stats.size === 0 && stats.nlink === 1;
}

/** With a journal in memory, because one on disk could be left behind. */
function lock(driver: SqliteDriver): void {
  driver.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
}
