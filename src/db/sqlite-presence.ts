import { existsSync, rmSync } from 'node:fs';
import type { SqliteDriver, SqliteLibrary } from './sqlite-driver.ts';

/**
 * Tells the living from the dead by a lock that the operating system drops together with the process, on a file of its
 * own. Process numbers are reused and mean nothing across containers; heartbeats need honest clocks.
 */
export interface Presence {
  end(): void;
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
    throw error;
  } finally {
    driver.close();
  }
  rmSync(path, { force: true });
  return false;
}

function lock(driver: SqliteDriver): void {
  driver.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
}
