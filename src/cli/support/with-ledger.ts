import { dirname } from 'node:path';
import { type Config, type LedgerPlace, locateDatabase, readConfig } from '../../config.ts';
import { type Database, DatabaseError, type Reader } from '../../db/database.ts';
import { findAbove, LEDGER, linkedWorkTree } from '../../db/locate.ts';
import { assertCreated, assertMigrated } from '../../db/migrate.ts';
import { openDatabase } from '../../db/open.ts';
import { checkSchema } from '../../db/schema/check.ts';
import { isCompleteLedgerFile, listHeaderProblems } from '../../db/sqlite/files/header.ts';
import { toError } from '../../errors.ts';
import { printError } from '../../print-error.ts';
import type { LedgerReport } from '../../verification/report.ts';
import { notRead } from '../../verification/verify-ledger.ts';

/** A ledger for those who only look. */
export type ReadableLedger = Pick<Database, 'engine' | 'location' | 'read'>;

/** Opens the ledger of the project around this folder, read-only, for as long as the work takes. */
export function withLedger<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
  return withDatabase((database) => database.read(work));
}

/** The same for work that looks again and again: each read sees the ledger as it is then. */
export function withDatabase<Result>(work: (database: ReadableLedger) => Promise<Result>): Promise<Result> {
  const config = projectConfig();
  sayWhichLedger(config);
  return withDatabaseAt(config, work);
}

export function withLedgerAt<Result>(
  dbPath: string | undefined,
  work: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  return withDatabaseAt({ dbPath, databaseUrl: undefined }, (database) => database.read(work));
}

/** Refuses a file that is no ledger; one of an older version is one. */
export async function assertLedgerAt(dbPath: string): Promise<void> {
  await withDatabaseAt({ dbPath, databaseUrl: undefined }, () => Promise.resolve(), assertCreated);
}

/** For verification, which reports a changed schema; every other command refuses such a ledger. */
export async function withSuspectLedger(work: (reader: Reader) => Promise<LedgerReport>): Promise<LedgerReport> {
  const config = projectConfig();
  sayWhichLedger(config);
  const path = config.databaseUrl === undefined ? locateDatabase(config) : undefined;
  let report: LedgerReport;
  try {
    report = await readSuspect(config, work);
  } catch (error) {
    const isDamaged = error instanceof DatabaseError && error.fault === 'corrupt';
    if (!isDamaged || path === undefined || !isCompleteLedgerFile(path)) throw error;
    report = notRead([{ place: 'file', problem: `cannot be read: ${toError(error.cause ?? error).message}` }]);
  }
  if (path === undefined) return report;
  const problems = listHeaderProblems(path).map((problem) => ({ place: 'file header', problem }));
  return { ...report, problems: [...report.problems, ...problems] };
}

async function readSuspect<Result>(config: Config, work: (reader: Reader) => Promise<Result>): Promise<Result> {
  const database = await openDatabase({ ...config, mode: 'READONLY', readOnly: true, acceptsAnySchema: true });
  try {
    const { isLedger, differences } = await database.read(checkSchema);
    if (!isLedger || differences.length === 0) await assertMigrated(database);
    return await database.read(work);
  } finally {
    await database.close();
  }
}

async function withDatabaseAt<Result>(
  { dbPath, projectDbPath, databaseUrl }: LedgerPlace & Pick<Config, 'databaseUrl'>,
  work: (database: ReadableLedger) => Promise<Result>,
  assertUsable: (database: Database) => Promise<unknown> = assertMigrated,
): Promise<Result> {
  const database = await openDatabase({
    ...readConfig(),
    dbPath,
    projectDbPath,
    databaseUrl,
    mode: 'READONLY',
    readOnly: true,
  });
  try {
    // No look at the ends of the log, as servers take: a reader of a cut log is here to learn where it was cut.
    await assertUsable(database);
    return await work(database);
  } finally {
    await database.close();
  }
}

/** A reader in a linked work tree would otherwise look for a ledger in it. */
function sayWhichLedger({ dbPath, databaseUrl }: Config): void {
  const linked = dbPath === undefined && databaseUrl === undefined ? linkedWorkTree() : undefined;
  if (linked === undefined) return;
  printError([`Using the ledger of ${linked.main}: ${linked.root} is a git worktree of it.`]);
}

/** The configuration, with the ledger of the nearest folder above that has one. */
export function projectConfig(): Config {
  const config = readConfig();
  return { ...config, projectDbPath: findAbove(LEDGER, LEDGER) };
}

/** The same for a ledger that may be lost: its folder tells where it was, and no other project's ledger stands in. */
export function homeConfig(): Config {
  const config = readConfig();
  return { ...config, projectDbPath: findAbove(dirname(LEDGER), LEDGER) };
}
