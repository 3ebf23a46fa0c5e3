import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from '../../database.ts';
import { loadSqlite, type SqliteDriver } from '../driver.ts';
import { explainFault } from '../errors.ts';

/** Other processes hold the lock for milliseconds, and a reader its snapshot for as long as it reads. */
const TIMEOUT_MS = 15_000;
const RETRY_MS = 50;

/**
 * Removes from the file what its tables no longer hold. A deleted row stays readable in free space until something
 * overwrites it, and so do words that the search index has dropped. Servers can keep working; writers wait meanwhile.
 */
export async function overwriteFreePages(path: string): Promise<void> {
  const sqlite = await loadSqlite();
  try {
    const driver = sqlite.open(path, { readOnly: false });
    try {
      driver.exec(`PRAGMA busy_timeout = ${TIMEOUT_MS}; PRAGMA cell_size_check = ON; PRAGMA fullfsync = ON`);
      driver.exec("INSERT INTO task_search (task_search) VALUES ('optimize')");
      // VACUUM rewrites every page to the write-ahead log; only a checkpoint overwrites them in the file.
      driver.exec('VACUUM');
      await checkpoint(driver, path);
    } finally {
      driver.close();
    }
  } catch (error) {
    throw explainFault(path, sqlite.faultOf(error), error);
  }
}

/** Copies the write-ahead log into the file and empties it, once no reader needs an older snapshot. */
async function checkpoint(driver: SqliteDriver, path: string): Promise<void> {
  const truncate = driver.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  for (const start = performance.now(); performance.now() - start < TIMEOUT_MS; await sleep(RETRY_MS)) {
    const [row] = truncate.all([]) as { readonly busy: number }[];
    if (row?.busy === 0) return;
  }
  throw new DatabaseError('busy', `${path}: another process keeps reading an older state of the ledger`);
}
