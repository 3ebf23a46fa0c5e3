import type { Database } from '../../db/database.ts';
import { toError } from '../../errors.ts';
import { readHead } from '../../ledger/head.ts';
import type { LedgerFacts } from './health.ts';

/** Asks, never throws: a store that cannot answer is what a health report is for. */
export async function readLedgerFacts(database: Database | undefined): Promise<LedgerFacts> {
  if (database === undefined) return undefined;
  const { engine } = database;
  try {
    const schemaVersion = await database.schemaVersion();
    return { engine, schemaVersion, durability: await database.durability(), ...(await database.read(readHead)) };
  } catch (thrown) {
    return { engine, error: toError(thrown) };
  }
}
