import { DatabaseError, type Reader } from '../../db/database.ts';
import { assertKnown } from '../../db/migrate.ts';
import { openDatabase } from '../../db/open.ts';
import { toError } from '../../errors.ts';
import { countCommonEntries, type Side } from '../../ledger/common-prefix.ts';
import { readHead } from '../../ledger/head.ts';
import { withLedgerAt } from './with-ledger.ts';

export type Comparison =
  | { readonly size: number; readonly common: number }
  /** The present ledger cannot be read. */
  | { readonly size: undefined; readonly reason: string };

/** What the present ledger has, and how much of that is also in the backup. */
export async function compareLedgers(present: string, backup: string, backupSize: number): Promise<Comparison> {
  try {
    return await withPresent(present, async (side) => {
      if (side === undefined) return { size: 0, common: 0 };
      const common = await withLedgerAt(backup, (reader) => countCommonEntries(side, { reader, size: backupSize }));
      return { size: side.size, common };
    });
  } catch (error) {
    if (error instanceof DatabaseError && (error.fault === 'busy' || error.fault === 'readonly')) throw error;
    return { size: undefined, reason: toError(error).message };
  }
}

/** Undefined when the file is a database without a single table: the server that made it was stopped at once. */
async function withPresent<Result>(path: string, work: (side: Side | undefined) => Promise<Result>): Promise<Result> {
  const database = await openDatabase({ durability: 'full', dbPath: path, mode: 'READONLY', readOnly: true });
  try {
    if (assertKnown(path, await database.schemaVersion()) === 0) return await work(undefined);
    return await database.read(async (reader: Reader) => work({ reader, size: (await readHead(reader)).size }));
  } finally {
    await database.close();
  }
}
