import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Database, Reader } from '../db/database.ts';
import { isCompleteLedgerFile } from '../db/sqlite/files/header.ts';
import { parseEntry } from '../integrity/index.ts';

/** Ledger files beside the place of a ledger, the one that changed last first. */
export function listBackups(ledger: string): string[] {
  const folder = dirname(ledger);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name !== basename(ledger) && extname(name) === extname(ledger))
    .map((name) => join(folder, name))
    .filter(isBackup)
    .sort((one, other) => lstatSync(other).mtimeMs - lstatSync(one).mtimeMs);
}

/** Links are left out: one that came with a clone may lead anywhere. */
function isBackup(path: string): boolean {
  try {
    return lstatSync(path).isFile() && isCompleteLedgerFile(path);
  } catch {
    return false;
  }
}

/**
 * The newest backup beside a ledger without tasks, if it is older than the ledger: then it is of an earlier one, which
 * was probably deleted by mistake.
 */
export async function findEarlierBackup(
  database: Pick<Database, 'engine' | 'location' | 'read'>,
): Promise<string | undefined> {
  const [newest] = database.engine === 'sqlite' ? listBackups(database.location) : [];
  if (newest === undefined) return undefined;
  const createdAt = await database.read(findCreation);
  return createdAt !== undefined && lstatSync(newest).mtimeMs < Date.parse(createdAt) ? newest : undefined;
}

/** Undefined if the ledger has a task. */
async function findCreation(reader: Reader): Promise<string | undefined> {
  const [task] = await reader.query('SELECT 1 FROM tasks LIMIT 1');
  const [first] = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = 0');
  return task === undefined && first !== undefined ? parseEntry(first.entry)?.at : undefined;
}
