import { dirname } from 'node:path';
import { type Config, locateDatabase, readCommandConfig } from '../../config.ts';
import { type Database, DatabaseError, LedgerReplaced, type Liveness, type Reader } from '../../db/database.ts';
import { findAbove, findSharedLedger, LEDGER } from '../../db/locate.ts';
import { assertCreated, assertMigrated } from '../../db/migrate.ts';
import { checkSchema } from '../../db/schema/check.ts';
import { isThere } from '../../db/sqlite/files/file.ts';
import { isCompleteLedgerFile, listHeaderProblems } from '../../db/sqlite/files/header.ts';
import { toError } from '../../errors.ts';
import { printError } from '../../print-error.ts';
import { type OpenOptions, openDatabase } from '../../trust/open-database.ts';
import type { LedgerReport } from '../../verification/report.ts';
import { notRead } from '../../verification/verify-ledger.ts';

/** The part of a database that a command needs to read it, and to tell which agents are alive. */
export type ReadableLedger = Pick<Database, 'engine' | 'location' | 'read'> & Liveness;

type LedgerLocation = Pick<OpenOptions, 'databaseUrl' | 'dbPath' | 'projectDbPath'>;

/** The configuration, with the ledger of the nearest folder above that has one. Call it once per command. */
export function readProjectConfig(): Config {
  return Object.freeze({ ...readCommandConfig(), projectDbPath: findAbove(LEDGER, LEDGER) });
}

/** TEST mode makes a ledger of its own unless one is named. */
export function isTemporary({ mode, dbPath, databaseUrl }: Config): boolean {
  return mode === 'TEST' && dbPath === undefined && databaseUrl === undefined;
}

/**
 * Whether there is no ledger file. Opening a ledger in PostgreSQL reports a missing one itself. Throws if this user
 * cannot tell.
 */
export function isMissing(config: Config): boolean {
  return config.databaseUrl === undefined && !isThere(locateDatabase(config));
}

/** For commands that read: servers and commands that write use another ledger then. */
export function warnOfTestMode(config: Config): void {
  if (isTemporary(config)) printError(TEST_MODE_WARNING);
}

export const TEST_MODE_WARNING =
  'Warning: COLIBRI_MODE is TEST: this is the ledger of the project, and servers and commands that write use a temporary one.';

/** For a ledger file that may be missing: its folder decides, so the ledger of a project above is not used instead. */
export function readRestoreConfig(): Config {
  return Object.freeze({ ...readCommandConfig(), projectDbPath: findAbove(dirname(LEDGER), LEDGER) });
}

/** Opens the ledger read-only for the duration of the work, which sees one snapshot. */
export function withLedger<Result>(
  location: LedgerLocation,
  work: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  return withDatabase(location, (database) => database.read(work));
}

/** Opens the ledger read-only for work that reads repeatedly; each read sees a new snapshot. */
export async function withDatabase<Result>(
  location: LedgerLocation,
  work: (database: ReadableLedger) => Promise<Result>,
  assertUsable: (database: Database) => Promise<unknown> = assertMigrated,
): Promise<Result> {
  const database = await openReadOnly(location);
  try {
    // Unlike a server, a command does not check the ends of the log: it must be able to show where a log was cut.
    await assertUsable(database);
    return await work(database);
  } catch (error) {
    // The advice of the store is for a server.
    if (!(error instanceof LedgerReplaced)) throw error;
    throw new LedgerReplaced(database.location, 'the command', 'run the command again');
  } finally {
    await database.close();
  }
}

/** For a command that opens the ledger later, and prints which one only then. */
export async function assertReadable(location: LedgerLocation): Promise<void> {
  const database = await openSilently(location);
  try {
    await assertMigrated(database);
  } finally {
    await database.close();
  }
}

/** Refuses a file that is not a ledger; accepts one of an older version. */
export async function assertLedgerFile(dbPath: string): Promise<void> {
  await withDatabase({ dbPath }, () => Promise.resolve(), assertCreated);
}

/**
 * For verification, which reports a changed schema; every other command refuses such a ledger. `readBefore` sees an
 * earlier snapshot than the work: what it finds outside the ledger, the work cannot be too old for.
 */
export async function withSuspectLedger<Before>(
  config: Config,
  readBefore: (reader: Reader) => Promise<Before>,
  work: (reader: Reader, before: PromiseSettledResult<Before>) => Promise<LedgerReport>,
): Promise<LedgerReport> {
  const path = config.databaseUrl === undefined ? locateDatabase(config) : undefined;
  let report: LedgerReport;
  try {
    report = await readSuspect(config, readBefore, work);
  } catch (error) {
    const isDamaged = error instanceof DatabaseError && error.fault === 'corrupt';
    if (!isDamaged || path === undefined || !isCompleteLedgerFile(path)) throw error;
    report = notRead([{ place: 'file', problem: `cannot be read: ${toError(error.cause ?? error).message}` }]);
  }
  if (path === undefined) return report;
  const problems = listHeaderProblems(path).map((problem) => ({ place: 'file header', problem }));
  return { ...report, problems: [...report.problems, ...problems] };
}

async function readSuspect<Before, Result>(
  location: LedgerLocation,
  readBefore: (reader: Reader) => Promise<Before>,
  work: (reader: Reader, before: PromiseSettledResult<Before>) => Promise<Result>,
): Promise<Result> {
  const database = await openReadOnly(location, { acceptsAnySchema: true });
  try {
    const { isLedger, differences } = await database.read(checkSchema);
    if (!isLedger || differences.length === 0) await assertMigrated(database);
    // A changed schema can make any read endless. It is reported first, and what was read before is not looked at then.
    const isReadable = differences.length === 0;
    const [before] = await Promise.allSettled([
      isReadable ? database.read(readBefore) : Promise.reject(new Error('the schema was changed')),
    ]);
    return await database.read((reader) => work(reader, before));
  } finally {
    await database.close();
  }
}

/** Durability and mode of the configuration do not matter to a reader. */
function openReadOnly(location: LedgerLocation, options: Partial<OpenOptions> = {}): Promise<Database> {
  printSharedLedger(location);
  return openSilently(location, options);
}

function openSilently(
  { databaseUrl, dbPath, projectDbPath }: LedgerLocation,
  options: Partial<OpenOptions> = {},
): Promise<Database> {
  const mode = 'READONLY';
  return openDatabase({ databaseUrl, dbPath, projectDbPath, mode, durability: 'full', readOnly: true, ...options });
}

/** A user in a linked work tree or in a subfolder would otherwise look for the ledger there. */
export function printSharedLedger(location: LedgerLocation): void {
  const shared = findSharedLedger(location);
  if (shared !== undefined) printError(`Using the ledger of ${shared.folder}: ${shared.reason}.`);
}
