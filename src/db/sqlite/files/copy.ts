import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { loadSqlite } from '../driver.ts';
import { explainFault, faultOfSystemError } from '../errors.ts';
import { copyForReading, nameOriginal } from './copy-files.ts';
import { inPlaceOr, realPathOf } from './in-place.ts';
import { assertNoJournal } from './journal.ts';

const BUSY_TIMEOUT_MS = 10_000;

/**
 * Writes one snapshot, with every row unchanged, to a new file that only the owner may read. Does not block writers.
 * The copy is a single file without a write-ahead log.
 */
export async function copySqlite(source: string, target: string): Promise<void> {
  const operation = `copying ${source} to ${target}`;
  try {
    // SQLite would create a file that everyone may read; it keeps the mode of an empty one.
    closeSync(openSync(target, 'wx', 0o600));
  } catch (error) {
    throw explainFault(operation, faultOfSystemError(error), error);
  }
  await inPlaceOr(
    realPathOf(source),
    () => vacuumInto(source, target, operation),
    () => vacuumPrivateCopy(source, target, operation),
  );
}

async function vacuumInto(source: string, target: string, operation: string): Promise<void> {
  const sqlite = await loadSqlite();
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

async function vacuumPrivateCopy(source: string, target: string, operation: string): Promise<void> {
  // The copy has no journal beside it, so the check must use the original.
  assertNoJournal(source);
  const folder = mkdtempSync(join(tmpdir(), 'colibri-read-'));
  try {
    const copy = join(folder, basename(source));
    copyForReading(realPathOf(source), copy, source);
    await vacuumInto(copy, target, operation);
  } catch (error) {
    throw nameOriginal(error, folder, dirname(source));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
