import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { type Config, locateDatabase } from '../../config.ts';
import { listBackups } from '../../trust/backups.ts';
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
    `  ${restoreCommand(ledger, newest)}`,
  ];
}

/** The new ledger has at least one entry, which would be lost; the file itself is kept. */
export function restoreCommand(ledger: string, backup: string): string {
  return `colibri restore ${quote(relative('.', backup))}${existsSync(ledger) ? ' --force' : ''}`;
}

/** Quotes a text for a POSIX shell. */
function quote(path: string): string {
  return /^[\w./:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
