import type { Database, Reader, Row, SqlValue } from '../db/database.ts';
import { createTables } from '../db/migrate.ts';
import { listKeyedTables } from '../db/sqlite/tables.ts';
import { listRows } from './merge-table.ts';
import { upsertRows, valuesOf } from './rows.ts';

const PAGE = 1000;

/**
 * Copies every row of a ledger of an older version to a new SQLite file with the same schema, where it can be migrated.
 * The index of the search stays empty: each engine has its own.
 */
export async function copyOldTables(source: Reader, target: Database, version: number): Promise<void> {
  await target.write({ durable: false }, async (transaction) => {
    await createTables(transaction, 0, version);
    await transaction.setSchemaVersion(version);
    for (const { table, key } of await listKeyedTables(transaction)) {
      let after: readonly SqlValue[] | undefined;
      for (;;) {
        const rows = await listRows(source, { table, key }, { after, limit: PAGE });
        // A migration may have inserted a row, such as the head.
        upsertRows(transaction, table, key, rows);
        if (rows.length < PAGE) break;
        after = valuesOf(rows.at(-1) as Row, key);
      }
    }
  });
}
