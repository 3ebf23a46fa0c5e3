import { listDamageInSqlite } from './db/check-indexes-sqlite.ts';
import { listForeignObjectsInPostgres } from './db/check-schema-postgres.ts';
import { listForeignObjectsInSqlite } from './db/check-schema-sqlite.ts';
import type { Engine, Reader } from './db/database.ts';
import { checkSearchInPostgres } from './domains/tasks/check-search-postgres.ts';
import { checkSearchInSqlite } from './domains/tasks/check-search-sqlite.ts';
import { checkTasks } from './domains/tasks/projection.ts';
import { checkTrail } from './domains/trail/projection.ts';
import { type LedgerReport, nothingForeseen, type Projection, verifyLedger } from './ledger/verify.ts';

/** The whole record, and that the store finds every row of it by whatever way it is asked. */
export async function verifyEverything(
  reader: Reader,
  progress?: (done: number, total: number) => void,
): Promise<LedgerReport> {
  const report = await verifyRecord(reader, progress);
  if (reader.engine !== 'sqlite') return report;
  const damages = (await listDamageInSqlite(reader)).map(({ table, problem }) => ({ place: table, problem }));
  return { ...report, problems: [...report.problems, ...damages] };
}

/** The log, its tree, every table that was made from it, and the shape of the tables. */
export function verifyRecord(reader: Reader, progress?: (done: number, total: number) => void): Promise<LedgerReport> {
  return verifyLedger(reader, [checkTasks, checkTrail, ...OF_ENGINE[reader.engine]], progress);
}

const OF_ENGINE: Readonly<Record<Engine, readonly Projection[]>> = {
  sqlite: [checkSearchInSqlite, checkSchema(listForeignObjectsInSqlite)],
  postgres: [checkSearchInPostgres, checkSchema(listForeignObjectsInPostgres)],
};

function checkSchema(listForeignObjects: (reader: Reader) => Promise<string[]>): Projection {
  return (reader, report) => ({
    foresee: nothingForeseen,
    page: () => Promise.resolve(),
    finish: async () => {
      for (const name of await listForeignObjects(reader)) report(name, 'is not as this program makes it');
    },
  });
}
