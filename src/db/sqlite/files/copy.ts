import { closeSync, openSync } from 'node:fs';
import { loadSqlite } from '../driver.ts';
import { explainFault, faultOfSystemError } from '../errors.ts';

const BUSY_TIMEOUT_MS = 10_000;

/**
 * Writes one snapshot, with every row unchanged, to a new file that only the owner may read. Does not block writers. The
 * copy is a single file without a write-ahead log.
 */
export async function copySqlite(source: string, target: string): Promise<void> {
  const sqlite = await loadSqlite();
  const operation = `copying ${source} to ${target}`;
  try {
    // SQLite would create a file that everyone may read; it keeps the mode of an empty one.
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    throw explainFault(operation, faultOfSystemError(error), error);
  }
  try {
    const driver = sqlite.open(source, { readOnly: true });
    try {
      driver.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA cell_size_check = ON`);
      driver.prepare('VACUUM INTO ?').all([target]);
    } finally {
      driver.close();
    }
  } catch (error) {
    throw explainFault(operation, sqlite.faultOf(error), error);
  }
}
