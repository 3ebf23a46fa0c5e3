import { existsSync, lstatSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOwnedByOther } from '../../file-owner.ts';
import { isProcessId } from '../../process-id.ts';
import type { SqliteDriver, SqliteLibrary } from '../driver.ts';

/**
 * Tells live processes from dead ones by a lock on a file of their own, which the operating system drops together with
 * the process. Process numbers are reused and mean nothing across containers; heartbeats need honest clocks.
 *
 * Every database path here is a real path: processes that reach one file through different links must see each other.
 */
export interface Presence {
  end(): void;
}

const SUFFIX = '.live';

/** The caller passes a well-formed process id and nothing else. */
export function presencePath(databasePath: string, processId: string): string {
  return `${databasePath}-${processId}${SUFFIX}`;
}

export function beginPresence(sqlite: SqliteLibrary, path: string): Presence {
  const driver = sqlite.open(path, { readOnly: false });
  lock(driver);
  return {
    end: () => {
      driver.close();
      rmSync(path, { force: true });
    },
  };
}

/** Removes the file that a dead process left behind; leaves alone what is not a presence file of this user. */
export function isPresent(sqlite: SqliteLibrary, path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !isPresenceFile(stats)) return false;
  // Only its owner may open the file, so nobody here can tell: its calls stay open.
  if (isOwnedByOther(stats)) return true;
  const driver = sqlite.open(path, { readOnly: false });
  try {
    lock(driver);
  } catch (error) {
    if (sqlite.faultOf(error) === 'busy') return true;
    // Its owner may exit at this moment and remove the file.
    if (!existsSync(path)) return false;
    throw error;
  } finally {
    driver.close();
  }
  rmSync(path, { force: true });
  return false;
}

/** Whether the process of a presence file lives; leaves the file as it is. */
export function isLocked(sqlite: SqliteLibrary, path: string): boolean {
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
    // Its owner may exit at this moment and remove the file.
    if (!existsSync(path)) return false;
    throw error;
  }
}

/** The presence files of this user beside a database, whether their processes live or not. */
export function listPresenceFiles(databasePath: string): string[] {
  const folder = dirname(databasePath);
  const prefix = `${basename(databasePath)}-`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith(SUFFIX))
    .filter((name) => isProcessId(name.slice(prefix.length, -SUFFIX.length)))
    .map((name) => join(folder, name))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats !== undefined && isPresenceFile(stats) && !isOwnedByOther(stats);
    });
}

/** An idle process that was killed leaves a file and no call that would make a later process look for it. */
export function removeDead(sqlite: SqliteLibrary, databasePath: string): void {
  for (const path of listPresenceFiles(databasePath)) isPresent(sqlite, path);
}

/** Nothing is ever written to one. Opening a link, a pipe or a database with content would act on what it holds. */
function isPresenceFile(stats: Stats): boolean {
  return stats.isFile() && stats.size === 0 && stats.nlink === 1;
}

/** A journal in memory: one on disk would be one more file to leave behind. */
function lock(driver: SqliteDriver): void {
  driver.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
}
