import { listForeignObjects } from './db/check-schema.ts';
import type { Database, Reader } from './db/database.ts';
import { checkSearch } from './domains/tasks/check-search.ts';
import { checkTasks } from './domains/tasks/projection.ts';
import { checkTrail } from './domains/trail/projection.ts';
import { type LedgerReport, nothingForeseen, type Projection, verifyLedger } from './ledger/verify.ts';

/** The whole record: the log, its tree, every table that was made from it, and the shape of the tables. */
export function verifyEverything(
  reader: Reader,
  progress?: (done: number, total: number) => void,
  engine: Database['engine'] = 'sqlite',
): Promise<LedgerReport> {
  const ofEngine = engine === 'sqlite' ? [checkSearch, checkSchema] : [];
  return verifyLedger(reader, [checkTasks, checkTrail, ...ofEngine], progress);
}

const checkSchema: Projection = (reader, report) => ({
  foresee: nothingForeseen,
  page: () => Promise.resolve(),
  finish: async () => {
    for (const name of await listForeignObjects(reader)) report(name, 'is not as this program makes it');
  },
});
