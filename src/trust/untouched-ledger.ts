import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Database } from '../db/database.ts';
import { assertSchema } from '../db/schema/check.ts';
import { openSqlite } from '../db/sqlite/database.ts';
import { loadSqlite } from '../db/sqlite/driver.ts';
import { copyFiles, nameOriginal } from '../db/sqlite/files/copy-files.ts';
import { assertNoJournal } from '../db/sqlite/files/journal.ts';
import { isLocked, listPresenceFiles } from '../db/sqlite/files/presence.ts';
import { openLedgerReadOnly } from '../ledger/open.ts';

const BUSY_TIMEOUT_MS = 5_000;

/** Reads a ledger without changing its folder. Refuses one that this version cannot use. */
export function withUntouchedLedger<Result>(
  path: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withUntouchedFile(path, async (database) => {
    await assertSchema(database);
    await openLedgerReadOnly(database);
    return work(database);
  });
}

/**
 * SQLite creates and writes side files even for a reader. If a live server of this user has the file open, the side
 * files are its own and the file is read directly; otherwise a copy is read, and the folder does not change. `work`
 * must check the schema before it reads anything else.
 */
export async function withUntouchedFile<Result>(
  path: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  // The copy has no journal beside it, so the check must use the original.
  assertNoJournal(path);
  if (await hasLiveServer(path)) return withFile(path, work);
  const folder = mkdtempSync(join(tmpdir(), 'colibri-look-'));
  try {
    const copy = join(folder, basename(path));
    // A process that started in the meantime may write while the file is copied.
    return await withFile((await copyUnchanged(path, copy)) ? copy : path, work);
  } catch (error) {
    throw nameOriginal(error, folder, dirname(path));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const MAX_COPIES = 3;

/** False if the ledger changed during every attempt. */
async function copyUnchanged(path: string, copy: string): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_COPIES; attempt += 1) {
    if (copyFiles(path, copy) !== undefined) return true;
    if (await hasLiveServer(path)) return false;
  }
  return false;
}

async function hasLiveServer(path: string): Promise<boolean> {
  const sqlite = await loadSqlite();
  return listPresenceFiles(realpathSync(path)).some((file) => isLocked(sqlite, file));
}

async function withFile<Result>(path: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const options = {
    readOnly: true,
    durability: 'full',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    acceptsAnyHeader: true,
  } as const;
  const database = await openSqlite({ path, ...options });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
