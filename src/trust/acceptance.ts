import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import { parseJson } from '../integrity/index.ts';
import { isPrivate, writePrivateFile } from './private-file.ts';

/** Identifies a ledger by its first entry and by the root over its entries at that time. It may have grown since. */
export interface LedgerIdentity {
  readonly ledgerId: string;
  readonly size: number;
  readonly root: string;
}

/** The user's decision to use the ledger at this path. */
export interface Acceptance extends LedgerIdentity {
  /** The real path. */
  readonly path: string;
  readonly acceptedAt: string;
  /** The state of the files at the last full verification; if missing, the next opening verifies again. */
  readonly verifiedFiles?: string | undefined;
}

/** One file for each ledger, so that two concurrent commands cannot lose each other's change. */
export function acceptanceFile(path: string): string | undefined {
  const folder = findConfigFolder();
  const name = `${createHash('sha256').update(path).digest('hex')}.json`;
  return folder === undefined ? undefined : join(folder, 'colibri', 'trusted', name);
}

export function findAcceptance(path: string): Acceptance | undefined {
  const file = acceptanceFile(path);
  if (file === undefined || !isPrivate(file) || !isPrivate(dirname(file))) return undefined;
  try {
    const acceptance = parse(parseJson(readFileSync(file, 'utf8')));
    return acceptance?.path === path ? acceptance : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the file; undefined if the user has no configuration folder. */
export function storeAcceptance(acceptance: Acceptance): string | undefined {
  const { path, ledgerId, size, root, acceptedAt, verifiedFiles } = acceptance;
  const file = acceptanceFile(path);
  if (file === undefined) return undefined;
  const note = { v: 1, path, ledger_id: ledgerId, size, root, accepted_at: acceptedAt, verified_files: verifiedFiles };
  writePrivateFile(file, `${JSON.stringify(note, undefined, 2)}\n`);
  return file;
}

function parse(value: unknown): Acceptance | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { v, path, ledger_id, size, root, accepted_at, verified_files } = value as Readonly<Record<string, unknown>>;
  if (v !== 1 || typeof path !== 'string' || typeof ledger_id !== 'string' || typeof accepted_at !== 'string')
    return undefined;
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 1) return undefined;
  if (typeof root !== 'string' || !/^[0-9a-f]{64}$/.test(root)) return undefined;
  const verifiedFiles = typeof verified_files === 'string' ? verified_files : undefined;
  return { path, ledgerId: ledger_id, size, root, acceptedAt: accepted_at, verifiedFiles };
}
