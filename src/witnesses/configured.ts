import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import { ColibriError } from '../errors.ts';
import { BadFormat, formatVerifierKey, parseJson, parseVerifierKey, type VerifierKey } from '../integrity/index.ts';
import { isPrivate, writePrivateFile } from '../trust/private-file.ts';
import { urlDefect } from './http.ts';

/** A server that the user asks to cosign the checkpoints of one log. */
export interface Witness {
  /** The submission prefix of C2SP tlog-witness, without a slash at its end. */
  readonly url: string;
  readonly key: VerifierKey;
}

/** Each one costs a request for every checkpoint. */
const MAX_WITNESSES = 16;

/**
 * The witnesses of one log, in the configuration folder of the user: a repository must not decide where requests go.
 * Empty if the user named none, which is the default.
 */
export function listWitnesses(ledgerId: string): Witness[] {
  const file = findFile(ledgerId);
  if (file === undefined || !existsSync(file)) return [];
  if (!isPrivate(file)) throw unusable(file, 'could have been changed by another user', 'look at it, then chmod 600');
  try {
    return parse(parseJson(readFileSync(file, 'utf8')));
  } catch (error) {
    throw unusable(file, `is damaged: ${(error as Error).message}`, 'remove it, and run colibri witness add again');
  }
}

/** Whether the user has ever named a witness, of any log. */
export function hasWitnesses(): boolean {
  const folder = findFolder();
  return folder !== undefined && existsSync(folder);
}

/** Replaces a witness with the same key. */
export function addWitness(ledgerId: string, witness: Witness): void {
  const name = formatVerifierKey(witness.key);
  const others = listWitnesses(ledgerId).filter(({ key }) => formatVerifierKey(key) !== name);
  if (others.length >= MAX_WITNESSES)
    throw new ColibriError('ERR_CONFIG_INVALID', `a log has at most ${MAX_WITNESSES} witnesses`, {}, REMOVE);
  write(ledgerId, [...others, witness]);
}

/** Returns false if there is none with this URL, key or name of a key. */
export function removeWitness(ledgerId: string, which: string): boolean {
  const witnesses = listWitnesses(ledgerId);
  const rest = witnesses.filter(({ url, key }) => ![url, key.name, formatVerifierKey(key)].includes(which));
  if (rest.length === witnesses.length) return false;
  write(ledgerId, rest);
  return true;
}

/** Throws `BadFormat` for what no witness has. */
export function toWitness(url: string, key: string): Witness {
  const prefix = url.replace(/(?<!\/)\/+$/, '');
  const defect = urlDefect(prefix);
  if (defect !== undefined) throw new BadFormat(`${url} ${defect}`);
  const parsed = parseVerifierKey(key);
  if (parsed.type !== 'cosignature') throw new BadFormat('the key is that of a log, not of a witness');
  return { url: prefix, key: parsed };
}

const REMOVE = { advice: 'run colibri witness remove first' };

function write(ledgerId: string, witnesses: readonly Witness[]): void {
  const file = findFile(ledgerId);
  if (file === undefined)
    throw new ColibriError('ERR_CONFIG_INVALID', 'you have no configuration folder', {}, { advice: 'set HOME' });
  const list = witnesses.map(({ url, key }) => ({ url, key: formatVerifierKey(key) }));
  writePrivateFile(file, `${JSON.stringify({ v: 1, witnesses: list }, undefined, 2)}\n`);
}

function findFile(ledgerId: string): string | undefined {
  const folder = findFolder();
  return folder === undefined ? undefined : join(folder, `${ledgerId}.json`);
}

function findFolder(): string | undefined {
  const folder = findConfigFolder();
  return folder === undefined ? undefined : join(folder, 'colibri', 'witnesses');
}

function parse(value: unknown): Witness[] {
  const { v, witnesses } = value as { v?: unknown; witnesses?: unknown };
  if (v !== 1 || !Array.isArray(witnesses) || witnesses.length > MAX_WITNESSES)
    throw new BadFormat('it is not a list of witnesses');
  return witnesses.map((each: unknown) => {
    const { url, key } = each as { url?: unknown; key?: unknown };
    if (typeof url !== 'string' || typeof key !== 'string') throw new BadFormat('a witness has a URL and a key');
    return toWitness(url, key);
  });
}

function unusable(path: string, problem: string, advice: string): ColibriError {
  return new ColibriError('ERR_CONFIG_INVALID', `the list of witnesses ${path} ${problem}`, { path }, { advice });
}
