import { join } from 'node:path';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { openLedgerReadOnly } from '../../src/ledger/open.ts';
import type { LedgerReport } from '../../src/verification/report.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';

/** Verifies the whole ledger of a project. */
export async function projectReport(folder: string): Promise<LedgerReport> {
  const path = join(folder, '.colibri', 'colibri.db');
  const database = await openSqlite({ path, readOnly: true, durability: 'full', busyTimeoutMs: 10_000 });
  try {
    await openLedgerReadOnly(database);
    return await database.read((reader) => verifyEverything(reader));
  } finally {
    await database.close();
  }
}
