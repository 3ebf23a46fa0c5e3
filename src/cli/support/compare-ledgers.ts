import { DatabaseError, type Reader } from '../../db/database.ts';
import { assertKnown } from '../../db/migrate.ts';
import { toError } from '../../errors.ts';
import { countCommonEntries, type Side } from '../../ledger/common-prefix.ts';
import { readHead } from '../../ledger/head.ts';
import { openDatabase } from '../../trust/open-database.ts';
import { withLedger } from './with-ledger.ts';

export type Comparison =
  | { readonly size: number; readonly common: number }
  /** The current ledger cannot be read. */
  | { readonly size: undefined; readonly reason: string };

/** Counts the entries of the current ledger, and how many of them the backup has too. */
export async function compareLedgers(current: string, backup: string, backupSize: number): Promise<Comparison> {
  try {
    return await withCurrent(current, async (side) => {
      if (side === undefined) return { size: 0, common: 0 };
      const common = await withLedger({ dbPath: backup }, (reader) =>
        countCommonEntries(side, { reader, size: backupSize }),
      );
      return { size: side.size, common };
    });
  } catch (error) {
    if (error instanceof DatabaseError && (error.fault === 'busy' || error.fault === 'readonly')) throw error;
    return { size: undefined, reason: toError(error).message };
  }
}

/** Passes undefined for a database without tables: a server created it and was stopped before it migrated. */
async function withCurrent<Result>(path: string, work: (side: Side | undefined) => Promise<Result>): Promise<Result> {
  const database = await openDatabase({ durability: 'full', dbPath: path, mode: 'READONLY', readOnly: true });
  try {
    if (assertKnown(path, await database.schemaVersion()) === 0) return await work(undefined);
    return await database.read(async (reader: Reader) => work({ reader, size: (await readHead(reader)).size }));
  } finally {
    await database.close();
  }
}
