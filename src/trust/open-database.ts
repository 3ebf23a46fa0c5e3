import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Config, type LedgerPlace, locateDatabase } from '../config.ts';
import { type Database, DatabaseError } from '../db/database.ts';
import { assertCreated, assertKnown, retryDeadlock } from '../db/migrate.ts';
import { restrictPermissions } from '../db/restrict-permissions.ts';
import { assertSchema } from '../db/schema/check.ts';
import { openSqlite } from '../db/sqlite/database.ts';
import { explainFault, faultOfSystemError } from '../db/sqlite/errors.ts';
import { assertRegularFiles, isThere } from '../db/sqlite/files/file.ts';
import { openForReading } from '../db/sqlite/read-only-copy.ts';
import { createFolders } from '../files/create-folders.ts';
import { ignoreFolder } from '../files/git-ignore.ts';
import { assertTrusted } from './assert-trusted.ts';

/** The longest statement of a call reads one page of the log; a statement that takes this long is stuck. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** Other writers hold the lock for less than a millisecond; a longer wait means that one is stuck. */
const BUSY_TIMEOUT_MS = 10_000;

export interface OpenOptions extends LedgerPlace, Pick<Config, 'mode' | 'durability'> {
  readonly databaseUrl?: string | undefined;
  readonly readOnly: boolean;
  /** For verification, which reports a changed schema instead of refusing it. */
  readonly acceptsAnySchema?: boolean;
  /** For `copy`, the only writer of an unfinished copy. */
  readonly acceptsUnfinished?: boolean;
  /** Refuses an empty PostgreSQL database, and leaves it as it is. */
  readonly needsLedger?: boolean;
}

/** Refuses a ledger whose schema is not the one that the migrations create. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { databaseUrl: url, durability, readOnly } = options;
  if (url === undefined) return openFile(options);
  // Loaded on demand: SQLite users do not wait for the driver.
  const { openPostgres } = await import('../db/postgres/database.ts');
  const timeouts = { busyTimeoutMs: BUSY_TIMEOUT_MS, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const { acceptsAnySchema = false, acceptsUnfinished = false, needsLedger = false } = options;
  const settings = { acceptsAnySchema, acceptsUnfinished, needsLedger, ...timeouts };
  const database = await openPostgres({ url, readOnly, durability, ...settings });
  if (acceptsAnySchema) return database;
  try {
    await retryDeadlock(() => assertSchema(database));
    if (needsLedger) await assertCreated(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openFile(options: OpenOptions): Promise<Database> {
  const { mode, dbPath, durability, readOnly, acceptsAnySchema, acceptsUnfinished = false } = options;
  const isThrowAway = mode === 'TEST' && dbPath === undefined;
  const path = isThrowAway ? join(mkdtempSync(join(tmpdir(), 'colibri-')), 'colibri.db') : locateDatabase(options);
  const isNamed = isThrowAway || dbPath !== undefined;
  // A command that accepts any schema verifies everything itself.
  if (!isNamed) await assertTrusted(path, { isWithoutVerification: acceptsAnySchema === true, isReadOnly: readOnly });
  assertRegularFiles(path);
  if (readOnly) assertExists(path);
  else if (isThere(path)) {
    assertMayWrite(path);
    await assertOurs(path);
  } else {
    createLedgerFolder(dirname(path));
    // A folder that was there before and that others may enter would look like one that came with a clone.
    if (!isNamed) {
      restrictPermissions(dirname(path));
      hideFromGit(dirname(path));
    }
  }
  const checks = acceptsAnySchema === true ? { acceptsAnyHeader: true } : { inspect: assertSchema };
  const timeouts = { busyTimeoutMs: BUSY_TIMEOUT_MS };
  const settings = { path, readOnly, durability, acceptsUnfinished, ...timeouts, ...checks };
  const database = readOnly ? await openForReading(settings) : await openSqlite(settings);
  return isThrowAway ? removedWhenClosed(database, dirname(path)) : database;
}

function assertExists(path: string): void {
  if (isThere(path)) return;
  throw new DatabaseError('unavailable', `no ledger at ${path}`, {
    advice: 'start a server there in FULL mode, the default, or run colibri add "title", to create it',
  });
}

/** Runs before SQLite opens the file: the WAL that SQLite creates beside a read-only file stays read-only. */
function assertMayWrite(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw explainFault(path, faultOfSystemError(error), error);
  }
}

/**
 * Checks through a read-only connection. One that can write would checkpoint another program's log on closing; a file
 * of another program, or of a newer version, must stay unchanged.
 */
async function assertOurs(path: string): Promise<void> {
  let version: number;
  try {
    const timeouts = { busyTimeoutMs: BUSY_TIMEOUT_MS };
    const database = await openSqlite({ path, readOnly: true, durability: 'full', ...timeouts, inspect: assertSchema });
    try {
      version = await database.schemaVersion();
    } finally {
      await database.close();
    }
  } catch (error) {
    if (error instanceof DatabaseError && error.fault === 'corrupt') throw error;
    // The writer meets every other failure again and reports it.
    return;
  }
  assertKnown(path, version);
}

/** A ledger holds what agents wrote: only its owner may read it, and git ignores it. */
export function createLedgerFolder(folder: string): void {
  if (existsSync(folder)) return;
  try {
    createFolders(folder);
  } catch (error) {
    throw explainFault(folder, faultOfSystemError(error), error);
  }
  hideFromGit(folder);
}

/**
 * A folder that came with a clone, with a committed checkpoint in it, has no such file: git would ignore it as well.
 */
function hideFromGit(folder: string): void {
  try {
    ignoreFolder(folder);
  } catch (error) {
    throw explainFault(folder, faultOfSystemError(error), error);
  }
}

function removedWhenClosed(database: Database, folder: string): Database {
  const close = database.close.bind(database);
  database.close = async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  };
  return database;
}
