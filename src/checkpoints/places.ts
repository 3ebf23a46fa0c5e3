import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import type { Reader } from '../db/database.ts';
import { isUuid, sha256 } from '../integrity/index.ts';
import { createPrivateFile } from '../trust/private-file.ts';

/** Which logs this user has signed at which place: one that is put in the place of another has another id. */

export interface FormerLog {
  readonly ledgerId: string;
  /** Removing it forgets that the log was here. */
  readonly file: string;
}

/** The path of a ledger file, or the URL of a database without its password, and the schema: each can hold a ledger. */
export async function readPlace(reader: Reader, location: string): Promise<string> {
  if (reader.engine === 'sqlite') return location;
  const [row] = await reader.query<{ schema: string }>('SELECT current_schema() AS schema');
  return `${location} schema ${row?.schema}`;
}

export function rememberPlace(place: string, ledgerId: string): void {
  const folder = findFolder(place);
  if (folder === undefined || existsSync(join(folder, ledgerId))) return;
  createPrivateFile(join(folder, ledgerId), `${place}\n`);
}

/** The other logs that this user has signed here; none if that cannot be read. */
export function listFormerLogs(place: string, ledgerId: string): FormerLog[] {
  const folder = findFolder(place);
  if (folder === undefined) return [];
  try {
    const others = readdirSync(folder).filter((name) => name !== ledgerId && isUuid(name));
    return others.map((name) => ({ ledgerId: name, file: join(folder, name) }));
  } catch {
    return [];
  }
}

/** To be called when a person goes on with another log here on purpose. */
export function forgetPlace(place: string, ledgerId: string): void {
  const folder = findFolder(place);
  if (folder !== undefined) rmSync(join(folder, ledgerId), { force: true });
}

function findFolder(place: string): string | undefined {
  const folder = findConfigFolder();
  const real = existsSync(place) ? realpathSync(place) : place;
  return folder === undefined ? undefined : join(folder, 'colibri', 'places', sha256(real).slice(0, 32));
}
