import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { Argument, Option } from 'commander';
import { locateDatabase } from '../../config.ts';
import { type Database, DatabaseError } from '../../db/database.ts';
import { assertCreated, EmptyLedger, migrate, SCHEMA_VERSION } from '../../db/migrate.ts';
import { restrictPermissions } from '../../db/restrict-permissions.ts';
import { SchemaError } from '../../db/schema/difference.ts';
import { copySqlite } from '../../db/sqlite/files/copy.ts';
import {
  isServed,
  moveSideFiles,
  type Replacement,
  replaceDamaged,
  replaceSqlite,
} from '../../db/sqlite/files/replace.ts';
import { toError } from '../../errors.ts';
import { sync, syncFolder } from '../../files/sync.ts';
import { assertTrusted } from '../../trust/assert-trusted.ts';
import { listConcerns } from '../../trust/list-concerns.ts';
import { createLedgerFolder, openDatabase } from '../../trust/open-database.ts';
import { acceptOwnLedger } from '../../trust/own-ledger.ts';
import { withUntouchedLedger } from '../../trust/untouched-ledger.ts';
import type { LedgerReport, Problem } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { publish, removeDatabase, timeStamp } from '../support/atomic-file.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { type Comparison, compareLedgers } from '../support/compare-ledgers.ts';
import { JSON_OPTION } from '../support/options.ts';
import { withProgress } from '../support/progress-bar.ts';
import { assertSqliteLedger } from '../support/require-sqlite.ts';
import { assertLedgerFile, printSharedLedger, readRestoreConfig } from '../support/with-ledger.ts';
import { createYieldingReader } from '../support/yielding-reader.ts';
import { countEntries, describeProblems, describeWhole } from '../views/problems.ts';

export const restore: CliCommand<{ readonly json?: boolean; readonly force?: boolean }, string> = {
  name: 'restore',
  summary: 'replace the ledger with a backup',
  argument: new Argument('<file>', 'the backup'),
  options: [new Option('--force', 'replace the ledger even if entries of it would be lost'), JSON_OPTION],
  details: [
    'Replaces the whole ledger file with a verified copy of the backup; nothing is merged. The replaced file is kept beside it. A backup of an older version is migrated in that copy; the backup itself is not changed.',
    'Refuses while a server has the ledger open, if the backup does not verify, and if entries would be lost. Only the last of these can be overridden with --force.',
  ],
  examples: [
    ['colibri restore monday.db'],
    ['colibri restore monday.db --force', 'even if the ledger has entries that the backup lacks'],
    ['COLIBRI_DB_PATH=elsewhere.db colibri restore monday.db'],
  ],
  exitCodes: { 0: 'done', 1: 'refused', 2: 'cannot tell', 3: 'bad input' },
  run: ({ json = false, force = false }, file) => reportResult('restore', json, () => restoreBackup(file, force)),
};

async function restoreBackup(file: string, force: boolean): Promise<CommandResult> {
  const config = readRestoreConfig();
  assertSqliteLedger('restore', config);
  printSharedLedger(config);
  const named = locateDatabase(config);
  if (config.dbPath === undefined) await assertTrusted(named, { isWithoutVerification: true });
  const target = existsSync(named) ? realpathSync(named) : named;
  const source = locateBackup(file, target);
  await assertBackup(source);
  await assertNotServed(target);
  createLedgerFolder(dirname(target));
  const isUnnamed = config.dbPath === undefined;
  if (isUnnamed) restrictPermissions(dirname(target));
  const staged = `${target}.${randomBytes(4).toString('hex')}.partial`;
  const result = await withCleanUp(
    () => removeDatabase(staged),
    async () => {
      await copySqlite(source, staged);
      const { backup, version } = await verifyStaged(staged, source);
      const kept = keptName(target);
      if (!existsSync(target)) {
        moveSideFiles(target, kept);
        publish(staged, target);
        return describe(target, { backup, version }, undefined, undefined);
      }
      const comparison = await compareLedgers(target, staged, backup.size);
      assertNothingLost(comparison, target, backup, force);
      sync(staged);
      await replace({ target, staged, kept, size: comparison.size }, force);
      syncFolder(target);
      return describe(target, { backup, version }, kept, comparison);
    },
  );
  if (isUnnamed) await acceptRestored(target);
  return result;
}

/** The user chose this backup, so the restored ledger counts as accepted. */
async function acceptRestored(target: string): Promise<void> {
  if (listConcerns(target).length === 0) return;
  const at = new Date().toISOString();
  await withUntouchedLedger(target, (database) =>
    acceptOwnLedger({ location: target, read: (work) => database.read(work) }, at),
  );
}

function locateBackup(file: string, target: string): string {
  const source = resolve(file);
  if (!existsSync(source) || !statSync(source).isFile()) {
    throw new CommandError('bad input', `no file ${source}`, { advice: 'pass the path of a backup' });
  }
  if (realpathSync(source) !== target) return source;
  throw new CommandError('bad input', `${source} is the ledger itself`, { advice: 'pass the path of a backup' });
}

/** The advice of the port is about the ledger, not about a backup. */
async function assertBackup(source: string): Promise<void> {
  try {
    await assertLedgerFile(source);
  } catch (error) {
    if (error instanceof SchemaError) throw tampered(source, describeProblems(error.differences), error.differences);
    const isUseless = error instanceof EmptyLedger || (error instanceof DatabaseError && error.fault === 'corrupt');
    if (!isUseless) throw error;
    throw new DatabaseError(error.fault, error.problem, { advice: 'use another backup', cause: error });
  }
}

async function assertNotServed(target: string): Promise<void> {
  if (await isServed(target)) throw inUse(target);
}

function inUse(target: string): CommandError {
  return new CommandError('refused', `a server or another program has ${target} open`, {
    advice: 'stop it (close the agents that started it) and try again',
    facts: { file: target, reason: 'in use' },
  });
}

interface Verified {
  readonly backup: LedgerReport;
  /** The schema version of the backup. */
  readonly version: number;
}

/** Verifies the copy, because the backup could change between the verification and the copy. */
async function verifyStaged(staged: string, source: string): Promise<Verified> {
  // Opened for writing, which creates the write-ahead log by which SQLite later detects other processes.
  const database = await openDatabase({ mode: 'FULL', durability: 'full', dbPath: staged, readOnly: false });
  try {
    const version = await migrateBackup(database, source);
    const backup = await withProgress('verifying the backup', (update) =>
      database.read((reader) => verifyEverything(createYieldingReader(reader), update)),
    );
    if (backup.problems.length === 0) return { backup, version };
    throw tampered(source, describeProblems(backup.problems), backup.problems);
  } finally {
    await database.close();
  }
}

/** Migrates a backup of an older version; returns the version that it had. */
async function migrateBackup(database: Database, source: string): Promise<number> {
  const version = await assertCreated(database);
  try {
    await withProgress('migrating the backup', (update) => migrate(database, () => Promise.resolve(), update));
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw tampered(source, `its tables are not those of schema ${version} (${toError(error).message})`, []);
  }
  return version;
}

function tampered(source: string, reason: string, problems: readonly Problem[]): CommandError {
  return new CommandError('refused', `${source} does not verify: ${reason}`, {
    advice: 'use another backup',
    facts: { reason: 'tampered backup', problems: problems.map(({ place, problem }) => ({ place, problem })) },
  });
}

function assertNothingLost(comparison: Comparison, target: string, backup: LedgerReport, force: boolean): void {
  if (force) return;
  const advice = 'pass --force to replace it anyway; the old file is kept beside the new one';
  if (comparison.size === undefined)
    throw new CommandError('cannot tell', `cannot tell which entries would be lost: ${comparison.reason}`, {
      advice,
      facts: { file: target, reason: 'unreadable ledger' },
    });
  const { size, common } = comparison;
  if (size === common) return;
  const lost = size - common;
  throw new CommandError(
    'refused',
    `${target} has ${countEntries(size)} and shares the first ${common} with the backup, which has ${backup.size}; ${lost} would be lost`,
    {
      advice,
      facts: { file: target, reason: 'entries would be lost', size, common, lost, backup_size: backup.size },
    },
  );
}

async function replace(replacement: Replacement, force: boolean): Promise<void> {
  try {
    await replaceSqlite(replacement);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (error.fault === 'busy') throw inUse(replacement.target);
    if (error.fault !== 'corrupt' || !force) throw error;
    replaceDamaged(replacement);
  }
}

function keptName(target: string): string {
  const extension = extname(target);
  return join(dirname(target), `${basename(target, extension)}-replaced-${timeStamp()}${extension}`);
}

function describe(
  file: string,
  { backup: { size, root }, version }: Verified,
  kept: string | undefined,
  comparison: Comparison | undefined,
): CommandResult {
  const lost = comparison?.size === undefined ? undefined : comparison.size - comparison.common;
  const lines = [`restored ${file} from the backup`, describeWhole(size, root)];
  const isMigrated = version !== SCHEMA_VERSION;
  if (isMigrated) lines.push(`migrated from schema ${version} to ${SCHEMA_VERSION}`);
  if (lost !== undefined && lost > 0) lines.push(`${countEntries(lost)} of the replaced ledger lost`);
  if (kept !== undefined) lines.push(`the replaced file was kept as ${kept}`);
  return {
    verdict: 'restored',
    lines,
    facts: {
      file,
      size,
      root,
      ...(isMigrated ? { migrated_from: version } : {}),
      ...(kept === undefined ? {} : { kept }),
      ...(lost === undefined ? {} : { lost }),
    },
  };
}
