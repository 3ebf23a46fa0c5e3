import { DatabaseError, type Engine, type Reader } from '../db/database.ts';
import { checkSchema } from '../db/schema/check.ts';
import { EMPTY_ROOT } from '../integrity/index.ts';
import { findDamageInSqlite } from './reference/indexes-sqlite.ts';
import { listMisstoredInSqlite } from './reference/storage-sqlite.ts';
import { checkTasks } from './reference/tasks.ts';
import { checkTrail } from './reference/thoughts.ts';
import { Replay } from './replay/replay.ts';
import { checkSearchInPostgres } from './search/postgres.ts';
import { checkSearchInSqlite } from './search/sqlite.ts';
import { strictReader } from './strict-reader.ts';
import {
  type LedgerReport,
  nothingForeseen,
  type Problem,
  type Projection,
  type VerifyOptions,
  verifyLedger,
} from './verify-log.ts';

/** The whole record, and that the store finds every row of it by whatever way it is asked. */
export function verifyEverything(
  reader: Reader,
  progress?: (done: number, total: number) => void,
  options?: VerifyOptions,
): Promise<LedgerReport> {
  return verifyWithSchema(reader, async (problems) => {
    if (reader.engine !== 'sqlite') return verifyTables(reader, problems, progress, options);
    // Before any table is read: a query over pages that are linked in a circle, or a thousandfold, never ends.
    const { damages, isSafeToRead } = await findDamageInSqlite(reader);
    const found = [...problems, ...damages];
    return isSafeToRead ? verifyTables(reader, found, progress, options) : unread(found);
  });
}

/** The log, its tree, every table that was made from it, and the shape of the tables. */
export function verifyRecord(
  reader: Reader,
  progress?: (done: number, total: number) => void,
  options?: VerifyOptions,
): Promise<LedgerReport> {
  return verifyWithSchema(reader, (problems) => verifyTables(reader, problems, progress, options));
}

/** Looks at the schema first: reading a table that a forger has replaced may run what he put there. */
async function verifyWithSchema(
  reader: Reader,
  verify: (problems: readonly Problem[]) => Promise<LedgerReport>,
): Promise<LedgerReport> {
  const { differences, isSafeToRead } = await checkSchema(reader);
  const problems = differences.map(({ place, problem }) => ({ place, problem }));
  if (!isSafeToRead && problems.length === 0) throw new Error('the schema is newer than this program; upgrade Colibri');
  if (!isSafeToRead) return unread(problems);
  try {
    return await verify(problems);
  } catch (error) {
    // A changed schema is tampering whether or not the rest can be read; a lost connection says nothing about the rest.
    const isAway = error instanceof DatabaseError && error.fault !== 'corrupt';
    if (isAway || problems.length === 0) throw error;
    return unread(problems);
  }
}

/** The report on a ledger whose tables are not read. */
export function unread(problems: readonly Problem[]): LedgerReport {
  return { size: 0, root: EMPTY_ROOT, problems, fast: { pages: 0, entries: 0 } };
}

/** What the tables say, whatever their schema: the second wall, behind the check of the schema. */
export async function verifyTables(
  reader: Reader,
  problems: readonly Problem[],
  progress?: (done: number, total: number) => void,
  options?: VerifyOptions,
): Promise<LedgerReport> {
  const projections = [checkDomains, CHECK_SEARCH[reader.engine], checkStorage];
  const report = await verifyLedger(strictReader(reader), projections, progress, options);
  return { ...report, problems: [...report.problems, ...problems] };
}

/** Tasks and trail against their rows, and against the rules between entries, which concern both. */
export const checkDomains: Projection = (reader, report) => {
  const replay = new Replay(report);
  const tasks = checkTasks(reader, report, (index, task) => replay.hold(index, task));
  const trail = checkTrail(reader, report, (thoughts) => replay.foresee(thoughts));
  return {
    foresee: (page, claims) => trail.foresee(page, claims),
    async page(entries, begin, end) {
      await tasks.page(entries, begin, end);
      await trail.page(entries, begin, end);
      replay.page(entries);
    },
    async finish(size) {
      await tasks.finish(size);
      await trail.finish(size);
    },
  };
};

const CHECK_SEARCH: Readonly<Record<Engine, Projection>> = {
  sqlite: checkSearchInSqlite,
  postgres: checkSearchInPostgres,
};

/** Every value of these is read with its type by the checks of its own rows, row by row or as one text. */
const READ_WITH_TYPES: ReadonlySet<string> = new Set(['ledger_entries', 'calls', 'thoughts']);

/** PostgreSQL stores no value of another type than its column's. */
const checkStorage: Projection = (reader, report) => ({
  foresee: nothingForeseen,
  page: () => Promise.resolve(),
  finish: async () => {
    if (reader.engine !== 'sqlite') return;
    for (const { place, problem } of await listMisstoredInSqlite(reader, READ_WITH_TYPES)) report(place, problem);
  },
});
