import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import type { Reader } from '../db/database.ts';
import { isUuid, sha256 } from '../integrity/index.ts';
import { createPrivateFile } from '../trust/private-file.ts';

/** The logs that this user has signed, by location: a ledger that replaces another has a different id. */

export interface FormerLog {
  readonly ledgerId: string;
  /** Remove this file to forget that the log was here. */
  readonly file: string;
}

/** The path of a ledger file, or the URL of a database without its password, and the schema: each can hold a ledger. */
export async function readLocation(reader: Reader, location: string): Promise<string> {
  if (reader.engine === 'sqlite') return location;
  const [row] = await reader.query<{ schema: string }>('SELECT current_schema() AS schema');
  return `${location} schema ${row?.schema}`;
}

export function rememberLocation(location: string, ledgerId: string): void {
  const folder = findFolder(location);
  if (folder === undefined || existsSync(join(folder, ledgerId))) return;
  createPrivateFile(join(folder, ledgerId), `${location}\n`);
}

/** The other logs that this user has signed here; none if that cannot be read. */
export function listFormerLogs(location: string, ledgerId: string): FormerLog[] {
  const folder = findFolder(location);
  if (folder === undefined) return [];
  const others = listSignedLogs(location).filter((name) => name !== ledgerId);
  return others.map((name) => ({ ledgerId: name, file: join(folder, name) }));
}

/** The ids of all logs that this user has signed here. */
export function listSignedLogs(location: string): string[] {
  const folder = findFolder(location);
  if (folder === undefined) return [];
  try {
    return readdirSync(folder).filter((name) => isUuid(name));
  } catch {
    return [];
  }
}

/** Call it when a person deliberately continues with another log at this location. */
export function forgetLocation(location: string, ledgerId: string): void {
  const folder = findFolder(location);
  if (folder !== undefined) rmSync(join(folder, ledgerId), { force: true });
}

function findFolder(location: string): string | undefined {
  const folder = findConfigFolder();
  const real = existsSync(location) ? realpathSync(location) : location;
  return folder === undefined ? undefined : join(folder, 'colibri', 'places', sha256(real).slice(0, 32));
}
