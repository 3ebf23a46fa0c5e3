import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SqliteDriver, SqliteLibrary } from './sqlite-driver.ts';

/**
 * Tells the living from the dead by a lock that the operating system drops together with the process, on a file of its
 * own. Process numbers are reused and mean nothing across containers; heartbeats need honest clocks.
 */
export interface Presence {
  end(): void;
}

const SUFFIX = '.live';

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

/** Removes the file that a dead process left behind. */
export function isPresent(sqlite: SqliteLibrary, path: string): boolean {
  if (!existsSync(path)) return false;
  const driver = sqlite.open(path, { readOnly: false });
  try {
    lock(driver);
  } catch (error) {
    if (sqlite.faultOf(error) === 'busy') return true;
    // Its owner may leave at this very moment, and take the file along.
    if (!existsSync(path)) return false;
    throw error;
  } finally {
    driver.close();
  }
  rmSync(path, { force: true });
  return false;
}

/** A process that was killed while it did nothing leaves no call behind that anybody would look into. */
export function removeDead(sqlite: SqliteLibrary, databasePath: string): void {
  const folder = dirname(databasePath);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`${basename(databasePath)}-`) && name.endsWith(SUFFIX)) isPresent(sqlite, join(folder, name));
  }
}

/** Nothing is ever written to the file, and a journal beside it would be one more to leave behind. */
function lock(driver: SqliteDriver): void {
  driver.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
}
