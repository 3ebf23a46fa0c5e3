import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { refuseRollback } from '../../checkpoints/open-signing.ts';
import { SCHEMA_VERSION } from '../../db/migrate.ts';
import { assertSchema } from '../../db/schema/check.ts';
import { assertNoJournal } from '../../db/sqlite/files/journal.ts';
import { type LedgerHead, readHead } from '../../ledger/head.ts';
import { openLedgerReadOnly } from '../../ledger/open.ts';
import { type CoverageReport, listCoverage } from '../../recorder/reports/list-reports.ts';
import { findEarlierBackup } from '../../trust/backups.ts';
import { withUntouchedFile } from '../../trust/untouched-ledger.ts';

const MAX_COPY_BYTES = 256 * 1024 ** 2;

export interface LedgerState {
  readonly schemaVersion: number;
  /** Undefined if the schema has another version, or if the file is too large to copy. */
  readonly head: LedgerHead | undefined;
  /** Empty if `head` is undefined. */
  readonly coverage: readonly CoverageReport[];
  /** A backup of an earlier ledger, if this one has no task. */
  readonly earlierBackup?: string | undefined;
}

/** Reads a copy, so that SQLite creates no side files beside the ledger. */
export async function readLedgerCopy(path: string): Promise<LedgerState> {
  assertNoJournal(path);
  const isSmall = existsSync(`${path}-shm`) || statSync(path).size <= MAX_COPY_BYTES;
  if (!isSmall) return { schemaVersion: readHeader(path), head: undefined, coverage: [] };
  return withUntouchedFile(path, async (database) => {
    await assertSchema(database);
    const schemaVersion = await database.schemaVersion();
    if (schemaVersion !== SCHEMA_VERSION) return { schemaVersion, head: undefined, coverage: [] };
    await openLedgerReadOnly(database);
    await refuseRollback(database);
    // The backups are beside the ledger, not beside the copy.
    const ledger = { engine: database.engine, location: path, read: database.read.bind(database) };
    return {
      schemaVersion,
      head: await database.read(readHead),
      coverage: await database.read(listCoverage),
      earlierBackup: await findEarlierBackup(ledger),
    };
  });
}

/** The schema version in the file header: https://www.sqlite.org/fileformat.html#user_version */
function readHeader(path: string): number {
  const header = Buffer.alloc(100);
  const handle = openSync(path, 'r');
  try {
    readSync(handle, header, 0, header.length, 0);
    return header.readInt32BE(60);
  } finally {
    closeSync(handle);
  }
}
