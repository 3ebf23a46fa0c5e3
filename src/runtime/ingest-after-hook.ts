import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuseRollback } from '../checkpoints/open-signing.ts';
import { LEDGER } from '../db/locate.ts';
import { assertMigrated } from '../db/migrate.ts';
import { loadSqlite } from '../db/sqlite/driver.ts';
import { isLocked, listPresenceFiles } from '../db/sqlite/files/presence.ts';
import type { FilledSpool } from '../recorder/hook.ts';
import { ingest } from '../recorder/ingest.ts';
import { openDatabase } from '../trust/open-database.ts';

/** Time limit of a hook, from the start of its process. */
const TIME_LIMIT_MS = 2000;

/**
 * Adds the events of a session to a ledger that no server has open. Neither creates nor migrates one. Silent and
 * without effect if anything is wrong: the events stay in the spool for the next server.
 */
export async function ingestAfterHook({ folder, dbPath, isDurable, isLast }: FilledSpool): Promise<void> {
  const timer = setTimeout(() => process.exit(0), Math.max(0, TIME_LIMIT_MS - process.uptime() * 1000));
  try {
    const path = dbPath ?? join(dirname(folder), basename(LEDGER));
    if (!existsSync(path) || (await isServed(path))) return;
    const durability = isDurable ? 'full' : 'relaxed';
    const database = await openDatabase({ dbPath, projectDbPath: path, mode: 'FULL', durability, readOnly: false });
    try {
      await assertMigrated(database);
      await refuseRollback(database);
      // Reports read transcripts, which must not delay an agent that continues.
      await ingest(database, folder, { isHurried: !isLast });
    } finally {
      await database.close();
    }
  } catch {
    // A later server reports what is wrong with the ledger.
  } finally {
    clearTimeout(timer);
  }
}

/** A server has the events already, or will in a moment. */
async function isServed(path: string): Promise<boolean> {
  const files = listPresenceFiles(realpathSync(path));
  if (files.length === 0) return false;
  const sqlite = await loadSqlite();
  return files.some((file) => isLocked(sqlite, file));
}
