import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { type Config, locateDatabase } from '../../config.ts';
import { isCompleteLedgerFile } from '../../db/sqlite/files/header.ts';
import { plural } from '../views/terminal.ts';
import { CommandError } from './command-result.ts';
import { readRestoreConfig } from './with-ledger.ts';

/** Refuses if the ledger file is gone and backups are beside it; names the command that restores the newest. */
export function assertNotDeleted(config: Config): void {
  if (config.databaseUrl !== undefined || existsSync(locateDatabase(config))) return;
  const path = locateDatabase(readRestoreConfig());
  const more = suggestRestore(path);
  if (more.length > 0) throw new CommandError('cannot tell', `no ledger at ${path}`, { more });
}

/** Lines for people; empty if there is no backup beside the place of the ledger. */
export function suggestRestore(ledger: string): string[] {
  const [newest, ...older] = listBackups(ledger);
  if (newest === undefined) return [];
  const found =
    older.length === 0 ? 'There is a backup beside it.' : `There are ${plural(older.length + 1, 'backup')} beside it.`;
  return [
    `${found} To restore ${older.length === 0 ? 'it' : 'the newest'}, run:`,
    `  colibri restore ${quote(relative('.', newest))}`,
  ];
}

/** Ledger files beside the place of a ledger, the one that changed last first. */
function listBackups(ledger: string): string[] {
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

/** As a POSIX shell reads it back. */
function quote(path: string): string {
  return /^[\w./:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
