import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { locateDatabase, readConfig } from '../../config.ts';
import { closeToOthers } from '../../db/close-to-others.ts';
import { type Database, DatabaseError } from '../../db/database.ts';
import { assertCreated, migrate, SCHEMA_VERSION } from '../../db/migrate.ts';
import { createLedgerFolder, openDatabase } from '../../db/open.ts';
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
import { assertTrusted } from '../../trust/assert-trusted.ts';
import { listConcerns } from '../../trust/list-concerns.ts';
import { acceptOwnLedger } from '../../trust/own-ledger.ts';
import { withUntouchedLedger } from '../../trust/untouched-ledger.ts';
import type { LedgerReport, Problem } from '../../verification/report.ts';
import { verifyEverything } from '../../verification/verify-ledger.ts';
import { publish, removeDatabase, sync, syncFolder, timeStamp } from '../support/atomic-file.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { EXIT, type Outcome, Refusal, reportOutcome } from '../support/command-result.ts';
import { type Comparison, compareLedgers } from '../support/compare-ledgers.ts';
import { createProgressBar } from '../support/progress-bar.ts';
import { assertIsFile } from '../support/require-sqlite.ts';
import { assertLedgerAt, homeConfig } from '../support/with-ledger.ts';
import { attentive } from '../support/yielding-reader.ts';

const HELP = `
Replaces the whole ledger file by a verified copy of the backup; nothing is merged. The replaced file stays beside it. A
backup of an earlier version is brought up to date in that copy; the backup itself stays as it is.
Refused while a server runs on the ledger, when the backup does not verify, and when entries would be lost; --force
allows the last of these.

Examples:
  colibri restore monday.db
  colibri restore monday.db --force    although the ledger has entries that the backup does not have
  COLIBRI_DB_PATH=elsewhere.db colibri restore monday.db

Exit codes: 0 done, 1 refused, 2 cannot tell, 3 bad input.`;

export function addRestore(program: Command): void {
  program
    .command('restore <file>')
    .description('put a backup in the place of the ledger')
    .option('--force', 'also when entries of the present ledger would be lost')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', HELP)
    .action((file: string, { json = false, force = false }: { json?: boolean; force?: boolean }) =>
      reportOutcome('restore', json, () => restore(file, force)),
    );
}

async function restore(file: string, force: boolean): Promise<Outcome> {
  const config = homeConfig();
  assertIsFile('restore', config);
  const named = locateDatabase(config);
  if (config.dbPath === undefined) await assertTrusted(named, { isWithoutVerification: true });
  const target = existsSync(named) ? realpathSync(named) : named;
  const source = locateBackup(file, target);
  await assertLedgerAt(source).catch((error: unknown) => {
    throw error instanceof SchemaError ? tampered(source, describeFirst(error.differences), error.differences) : error;
  });
  await assertNotServed(target);
  createLedgerFolder(dirname(target));
  const isUnnamed = config.dbPath === undefined;
  if (isUnnamed) closeToOthers(dirname(target));
  const staged = `${target}.${randomBytes(4).toString('hex')}.partial`;
  const outcome = await withCleanUp(
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
  return outcome;
}

/** Opened only where it is needed: that a user restored it is reason enough to use it. */
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
    throw new Refusal(EXIT.badInput, 'bad input', `there is no file ${source}`);
  }
  if (realpathSync(source) !== target) return source;
  throw new Refusal(EXIT.badInput, 'bad input', `${source} is the ledger itself; name a backup of it`);
}

async function assertNotServed(target: string): Promise<void> {
  if (await isServed(target)) throw inUse(target);
}

function inUse(target: string): Refusal {
  const message = `a server or another program has ${target} open; end it (close the agents that started it) and try again`;
  return new Refusal(EXIT.refused, 'refused', message, { file: target, reason: 'in use' });
}

interface Verified {
  readonly backup: LedgerReport;
  /** The schema that it had. */
  readonly version: number;
}

/** The copy is checked, not the backup itself, which could change between the check and the copy. */
async function verifyStaged(staged: string, source: string): Promise<Verified> {
  const bar = createProgressBar('verifying the backup');
  // Opened for writing once, so that it has the write-ahead log by which SQLite tells later who has it open.
  const database = await openDatabase({ ...readConfig(), mode: 'FULL', dbPath: staged, readOnly: false });
  try {
    const version = await migrateBackup(database, source);
    const backup = await database.read((reader) => verifyEverything(attentive(reader), bar.update)).finally(bar.end);
    if (backup.problems.length === 0) return { backup, version };
    throw tampered(source, describeFirst(backup.problems), backup.problems);
  } finally {
    await database.close();
  }
}

/** A backup may be older than this program. Returns the version that it had. */
async function migrateBackup(database: Database, source: string): Promise<number> {
  const version = await assertCreated(database);
  try {
    await migrate(database, () => Promise.resolve());
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    throw tampered(source, `its tables are not those of schema ${version} (${toError(error).message})`, []);
  }
  return version;
}

function describeFirst(problems: readonly Problem[]): string {
  return `${problems.length} problem(s), the first at ${problems[0]?.place}: ${problems[0]?.problem}`;
}

function tampered(source: string, why: string, problems: readonly Problem[]): Refusal {
  const message = `${source} does not verify: ${why}; take another backup`;
  const facts = { reason: 'tampered backup', problems: problems.map(({ place, problem }) => ({ place, problem })) };
  return new Refusal(EXIT.refused, 'refused', message, facts);
}

function assertNothingLost(comparison: Comparison, target: string, backup: LedgerReport, force: boolean): void {
  if (force) return;
  const rest = '--force replaces it all the same, and keeps it beside the new one';
  if (comparison.size === undefined) {
    const message = `nobody can tell what would be lost: ${comparison.reason}; ${rest}`;
    throw new Refusal(EXIT.cannotTell, 'cannot tell', message, { file: target, reason: 'unreadable ledger' });
  }
  const { size, common } = comparison;
  if (size === common) return;
  throw new Refusal(
    EXIT.refused,
    'refused',
    `${target} has ${size} entries and shares the first ${common} with the backup, which has ${backup.size}; ${size - common} would be lost; ${rest}`,
    { file: target, reason: 'entries would be lost', size, common, lost: size - common, backup_size: backup.size },
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
): Outcome {
  const lost = comparison?.size === undefined ? undefined : comparison.size - comparison.common;
  const lines = [`restored ${file}: the whole file is now the backup's`, `whole: ${size} entries, root ${root}`];
  const isMigrated = version !== SCHEMA_VERSION;
  if (isMigrated) lines.push(`brought from schema ${version} of an earlier Colibri to ${SCHEMA_VERSION}`);
  if (lost !== undefined && lost > 0) lines.push(`${lost} entries of the replaced ledger are not in it`);
  if (kept !== undefined) lines.push(`the replaced file is kept as ${kept}`);
  return {
    exitCode: EXIT.done,
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
