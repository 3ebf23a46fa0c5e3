import { listDamageInSqlite } from './db/check-indexes-sqlite.ts';
import { listForeignObjectsInPostgres } from './db/check-schema-postgres.ts';
import { listForeignObjectsInSqlite } from './db/check-schema-sqlite.ts';
import { listMisstoredInSqlite } from './db/check-storage-sqlite.ts';
import { DatabaseError, type Engine, type Reader } from './db/database.ts';
import { listDefinitions } from './db/migrate.ts';
import { checkSearchInPostgres } from './domains/tasks/check-search-postgres.ts';
import { checkSearchInSqlite } from './domains/tasks/check-search-sqlite.ts';
import { checkTasks } from './domains/tasks/projection.ts';
import { Replay } from './domains/tasks/replay.ts';
import { checkTrail } from './domains/trail/projection.ts';
import { EMPTY_ROOT } from './integrity/index.ts';
import { strictReader } from './ledger/strict-reader.ts';
import {
  type LedgerReport,
  nothingForeseen,
  type Problem,
  type Projection,
  type VerifyOptions,
  verifyLedger,
} from './ledger/verify.ts';

/** The whole record, and that the store finds every row of it by whatever way it is asked. */
export async function verifyEverything(
  reader: Reader,
  progress?: (done: number, total: number) => void,
  options?: VerifyOptions,
): Promise<LedgerReport> {
  const report = await verifyRecord(reader, progress, options);
  if (reader.engine !== 'sqlite') return report;
  const damages = (await listDamageInSqlite(reader)).map(({ table, problem }) => ({ place: table, problem }));
  return { ...report, problems: [...report.problems, ...damages] };
}

/** The log, its tree, every table that was made from it, and the shape of the tables. */
export async function verifyRecord(
  anyReader: Reader,
  progress?: (done: number, total: number) => void,
  options?: VerifyOptions,
): Promise<LedgerReport> {
  const reader = strictReader(anyReader);
  const foreign = await LIST_FOREIGN_OBJECTS[reader.engine](reader);
  const problems = foreign.map((place) => ({ place, problem: 'is not as this program makes it' }));
  const projections = [checkDomains, CHECK_SEARCH[reader.engine], checkStorage, reportLast(problems)];
  try {
    return await verifyLedger(reader, projections, progress, options);
  } catch (error) {
    // Of a table that is gone or has other columns nothing else can be told; of a store that is away not even that.
    const isAway = error instanceof DatabaseError && error.fault !== 'corrupt';
    if (isAway || !foreign.some((name) => isTable(reader.engine, name))) throw error;
    return { size: 0, root: EMPTY_ROOT, problems, fast: { pages: 0, entries: 0 } };
  }
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

/** Whether a table of this name belongs to a ledger. */
function isTable(engine: Engine, name: string): boolean {
  return listDefinitions(engine).some((sql) => /^CREATE (?:VIRTUAL )?TABLE (\w+)/.exec(sql)?.[1] === name);
}

const LIST_FOREIGN_OBJECTS: Readonly<Record<Engine, (reader: Reader) => Promise<string[]>>> = {
  sqlite: listForeignObjectsInSqlite,
  postgres: listForeignObjectsInPostgres,
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
    for (const { table, problem } of await listMisstoredInSqlite(reader, READ_WITH_TYPES)) report(table, problem);
  },
});

function reportLast(problems: readonly Problem[]): Projection {
  return (_reader, report) => ({
    foresee: nothingForeseen,
    page: () => Promise.resolve(),
    finish: async () => {
      for (const { place, problem } of problems) report(place, problem);
    },
  });
}
