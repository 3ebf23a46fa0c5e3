import { DatabaseError, type Reader } from '../db/database.ts';
import { checkSchema } from '../db/schema/check.ts';
import { EMPTY_ROOT } from '../integrity/index.ts';
import type { Progress } from './hashing.ts';
import { findDamageInSqlite } from './reference/sqlite/indexes.ts';
import type { LedgerReport, Problem } from './report.ts';
import { strictReader } from './strict-reader.ts';
import { type VerifyOptions, verifyPages } from './verify-pages.ts';

/** Verifies the record, and on SQLite also every page and index of the file. */
export function verifyEverything(reader: Reader, progress?: Progress, options?: VerifyOptions): Promise<LedgerReport> {
  return verifyWithSchema(reader, async (differences) => {
    // Before any table is read: a query over b-tree pages that form a cycle never ends.
    const { damages, isSafeToRead } =
      reader.engine === 'sqlite' ? await findDamageInSqlite(reader) : { damages: [], isSafeToRead: true };
    const report = isSafeToRead ? await verifyTables(reader, progress, options) : notRead([]);
    return { ...report, problems: [...report.problems, ...differences, ...damages] };
  });
}

/** Verifies the schema, the log, its tree and every table that is derived from it. */
export function verifyRecord(reader: Reader, progress?: Progress, options?: VerifyOptions): Promise<LedgerReport> {
  return verifyWithSchema(reader, async (differences) => {
    const report = await verifyTables(reader, progress, options);
    return { ...report, problems: [...report.problems, ...differences] };
  });
}

/** Checks the schema first: reading a table that a forger replaced may run the forger's code. */
async function verifyWithSchema(
  reader: Reader,
  verify: (differences: readonly Problem[]) => Promise<LedgerReport>,
): Promise<LedgerReport> {
  const { differences, isSafeToRead } = await checkSchema(reader);
  const problems = differences.map(({ place, problem }) => ({ place, problem }));
  if (!isSafeToRead && problems.length === 0) throw new Error('the schema is newer than this program; upgrade Colibri');
  if (!isSafeToRead) return notRead(problems);
  try {
    return await verify(problems);
  } catch (error) {
    // A changed schema is tampering even if the tables cannot be read; a lost connection says nothing about them.
    const isUnavailable = error instanceof DatabaseError && error.fault !== 'corrupt';
    if (isUnavailable || problems.length === 0) throw error;
    return notRead(problems);
  }
}

/** The report on a ledger whose tables were not read. */
export function notRead(problems: readonly Problem[]): LedgerReport {
  return { size: 0, root: EMPTY_ROOT, problems, redacted: [], fast: { pages: 0, entries: 0 } };
}

/** Verifies the tables without a check of the schema. */
export async function verifyTables(
  reader: Reader,
  progress?: Progress,
  options?: VerifyOptions,
): Promise<LedgerReport> {
  return verifyPages(strictReader(reader), progress, options);
}
