import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../../../db/database.ts';
import { parseJson } from '../../../integrity/index.ts';
import { findEntryText } from '../../query/log-entries.ts';
import { readFile, withTemporary } from './folder.ts';

/** Raised when the notes of the same records look different, so that all of them are compared again. */
const FORMAT = 2;
const FILE = '.colibri-notes.json';

/** What the last export wrote. Without it, or if it does not fit the ledger, every note is compared again. */
export interface VaultState {
  readonly ledger: string;
  readonly size: number;
  /** A digest of the last entry: a restored ledger can have as many entries as another one. */
  readonly tail: string;
  readonly tasks: number;
  readonly sessions: number;
  readonly agents: readonly string[];
  readonly days: readonly string[];
  /** Notes that could not be written, to be tried again. */
  readonly left_alone: readonly string[];
}

/** Undefined if there is none, or if another program has changed it. */
export function readState(root: string): VaultState | undefined {
  const file = readFile(join(root, FILE));
  if (file === undefined || 'problem' in file) return undefined;
  try {
    const value: unknown = parseJson(file.text);
    return isState(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function writeState(root: string, state: VaultState): void {
  const path = join(root, FILE);
  withTemporary(
    path,
    `${JSON.stringify({ format: FORMAT, ...state })}\n`,
    { mode: 0o600, isDurable: false },
    (temporary) => renameSync(temporary, path),
  );
}

/** Undefined for an empty log. */
export async function readTail(db: Reader, size: number): Promise<string | undefined> {
  const entry = await findEntryText(db, size - 1);
  return entry === undefined ? undefined : createHash('sha256').update(entry).digest('hex');
}

function isState(value: unknown): value is VaultState {
  if (typeof value !== 'object' || value === null) return false;
  const { format, ledger, size, tail, tasks, sessions, ...lists } = value as Partial<Record<string, unknown>>;
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) >= 0;
  const isList = (list: unknown) => Array.isArray(list) && list.every((item) => typeof item === 'string');
  return (
    format === FORMAT &&
    typeof ledger === 'string' &&
    typeof tail === 'string' &&
    [size, tasks, sessions].every(isCount) &&
    [lists['agents'], lists['days'], lists['left_alone']].every(isList)
  );
}
