import type { Database } from '../../db/database.ts';
import { toError } from '../../errors.ts';
import { readHead } from '../../ledger/head.ts';
import type { LedgerFacts } from './health.ts';

/** Never throws: an unreadable database is part of a health report. */
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
