import { closeSync, openSync } from 'node:fs';
import { loadSqlite } from '../driver.ts';
import { explainFault, faultOfSystemError } from '../errors.ts';

const BUSY_TIMEOUT_MS = 10_000;

/**
 * Writes the state of one moment, with every row as it is, to a new file for the owner's eyes. Writers go on meanwhile:
 * SQLite reads one snapshot. The copy is a single file, without a write-ahead log beside it.
 */
export async function copySqlite(source: string, target: string): Promise<void> {
  const sqlite = await loadSqlite();
  const place = `copying ${source} to ${target}`;
  try {
    // SQLite would create the file for everybody to read; an empty one it takes as it is.
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    throw explainFault(place, faultOfSystemError(error), error);
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
    throw explainFault(place, sqlite.faultOf(error), error);
  }
}
