import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOwnedByOther } from '../db/file-owner.ts';
import { LEDGER } from '../db/locate.ts';
import { ignoreFolder, isIgnored } from '../files/git-ignore.ts';
import { syncFolder } from '../files/sync.ts';
import { randomHex } from './random-hex.ts';
import { writeToReserve } from './spool-reserve.ts';

/**
 * Events that are not in the ledger yet, one file each. A file gets its final name when it is complete, so a reader
 * never sees half of one, and writers need no lock.
 */

/** The name of the folder beside the ledger of a project. */
export const SPOOL = 'spool';

/**
 * The folder for the events of a ledger. Ledgers that share a folder have one each: an event belongs to one of them.
 */
export function spoolOf(ledger: string): string {
  const name = basename(ledger);
  return join(dirname(ledger), name === basename(LEDGER) ? SPOOL : `${name}.${SPOOL}`);
}

const MAX_FILES = 10_000;
const MAX_FILE_BYTES = 262_144;
const FINAL_NAME = /^\d{13}-\d{1,10}-[0-9a-f]{16}\.json$/;
const TEMPORARY_NAME = /^\.(\d{13})-\d{1,10}-[0-9a-f]{16}\.tmp$/;
const TEST_NAME = /^(\d{13})-\d{1,10}-[0-9a-f]{16}\.test$/;
const DROPPED = 'dropped';
const REJECTED = '.rejected';
const FOR_OTHERS = 0o077;

/** The folder cannot be trusted or used; the message is a sentence for people. */
export class SpoolRefused extends Error {}

export interface WriteOptions {
  readonly at: Date;
  readonly isDurable: boolean;
  /** Stores the event under a name that is never ingested, for `takeTestEvents`. */
  readonly isTest?: boolean;
}

/** Creates the folder if `.colibri` exists. Counts the event instead of storing it if too many wait already. */
export function writeToSpool(folder: string, text: string, { at, isDurable, isTest = false }: WriteOptions): void {
  assertUsable(folder);
  if (Buffer.byteLength(text) > MAX_FILE_BYTES || readdirSync(folder).length >= MAX_FILES) {
    countDroppedEvent(folder);
    throw new SpoolRefused(`${folder} is full; start a Colibri server to empty it`);
  }
  const name = `${at.getTime().toString().padStart(13, '0')}-${process.pid}-${nextSuffix()}`;
  const temporary = join(folder, `.${name}.tmp`);
  try {
    writeInto(folder, temporary, text, isDurable);
    renameSync(temporary, join(folder, `${name}.${isTest ? 'test' : 'json'}`));
    if (isDurable) syncFolder(temporary);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

let written = 0;

/** Rises, so that the events that a process writes in one millisecond keep their order. */
function nextSuffix(): string {
  written = (written + 1) % 0x1_00_00;
  return written.toString(16).padStart(4, '0') + randomHex(6);
}

/** False if no hook has run here. Throws if the folder cannot be trusted. */
export function hasSpool(folder: string): boolean {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return false;
  assertUsable(folder);
  return true;
}

/** The names of complete files, oldest first. Ignores what another user, or a clone, could have put there. */
export function listSpool(folder: string): string[] {
  if (!hasSpool(folder)) return [];
  return readdirSync(folder)
    .filter((name) => FINAL_NAME.test(name) && isOwnFile(lstatSync(join(folder, name), { throwIfNoEntry: false })))
    .sort();
}

/** How many files may wait, by their names alone, written before this time. Throws if there is no such folder. */
export function countWaiting(folder: string, beforeMs = Number.POSITIVE_INFINITY): number {
  return readdirSync(folder).filter((name) => FINAL_NAME.test(name) && Number(name.slice(0, 13)) < beforeMs).length;
}

/** Undefined if another process removed it first, or if no hook could have written it. */
export function readSpoolFile(folder: string, name: string): string | undefined {
  let handle: number;
  try {
    handle = openSync(join(folder, name), constants.O_RDONLY | NO_FOLLOW);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(handle);
    return isOwnFile(stats) && stats.size <= MAX_FILE_BYTES ? readFileSync(handle, 'utf8') : undefined;
  } finally {
    closeSync(handle);
  }
}

export function removeSpoolFile(folder: string, name: string): void {
  rmSync(join(folder, name), { force: true });
}

/** Keeps a file that cannot be ingested, under a name that is not listed. */
export function rejectSpoolFile(folder: string, name: string): void {
  rename(join(folder, name), join(folder, name + REJECTED));
}

/** The names of files that were kept because they could not be ingested. */
export function listRejected(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(REJECTED) && FINAL_NAME.test(withoutMark(name)));
}

/** Lets a rejected file be ingested again. */
export function readmitSpoolFile(folder: string, name: string): void {
  rename(join(folder, name), join(folder, withoutMark(name)));
}

function withoutMark(name: string): string {
  return name.slice(0, -REJECTED.length);
}

/** Removes the test events and returns their texts. */
export function takeTestEvents(folder: string): string[] {
  if (!hasSpool(folder)) return [];
  return readdirSync(folder)
    .filter((name) => TEST_NAME.test(name))
    .flatMap((name) => {
      const text = readSpoolFile(folder, name);
      removeSpoolFile(folder, name);
      return text ?? [];
    });
}

/** How many files were kept because they could not be ingested. */
export function countRejected(folder: string): number {
  return readdirSync(folder).filter((name) => name.endsWith(REJECTED)).length;
}

/** How many events were dropped since the folder was created. Only grows: the reader remembers what it reported. */
export function countDropped(folder: string): number {
  return lstatSync(join(folder, DROPPED), { throwIfNoEntry: false })?.size ?? 0;
}

/** Removes what killed writers left behind. A writer needs milliseconds; an hour leaves room for suspended machines. */
export function removeAbandoned(folder: string, now: Date, olderThanMs = 3_600_000): void {
  for (const name of readdirSync(folder)) {
    const [, writtenMs] = TEMPORARY_NAME.exec(name) ?? TEST_NAME.exec(name) ?? [];
    if (Number(writtenMs) < now.getTime() - olderThanMs) rmSync(join(folder, name), { force: true });
  }
}

/** Windows has neither flag; its links need privileges. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const CREATE = constants.O_WRONLY | constants.O_CREAT | NO_FOLLOW;

function assertUsable(folder: string): void {
  assertOwn(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
    // A folder that came with a clone has no .gitignore of ours, and nothing else may be created in it.
    if (!isIgnored(dirname(folder))) ignoreFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const { mode } = assertOwn(folder);
  // Git creates folders that others may read: whatever is in this one may have come with a clone.
  if (process.platform !== 'win32' && (mode & FOR_OTHERS) !== 0)
    throw new SpoolRefused(`${folder} is open to other users; remove it if you do not know why`);
}

function assertOwn(folder: string): Stats {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink()) throw new SpoolRefused(`${folder} is a symbolic link`);
  if (!stats.isDirectory()) throw new SpoolRefused(`${folder} is not a folder`);
  if (isOwnedByOther(stats)) throw new SpoolRefused(`${folder} belongs to another user`);
  return stats;
}

function isOwnFile(stats: Stats | undefined): boolean {
  if (stats === undefined || !stats.isFile() || stats.nlink > 1 || isOwnedByOther(stats)) return false;
  return process.platform === 'win32' || (stats.mode & FOR_OTHERS) === 0;
}

/** One byte for each event, because concurrent appends do not overwrite each other. */
export function countDroppedEvent(folder: string): void {
  assertUsable(folder);
  const handle = openSync(join(folder, DROPPED), CREATE | constants.O_APPEND, 0o600);
  try {
    writeFileSync(handle, '.');
  } finally {
    closeSync(handle);
  }
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Takes the space that is reserved if the disk has none. */
function writeInto(folder: string, temporary: string, text: string, isDurable: boolean): void {
  try {
    writeWhole(temporary, text, isDurable);
  } catch (error) {
    if (!['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    rmSync(temporary, { force: true });
    if (!writeToReserve(folder, temporary, text, isDurable)) throw error;
  }
}

function writeWhole(path: string, text: string, isDurable: boolean): void {
  const handle = openSync(path, CREATE | constants.O_EXCL, 0o600);
  try {
    writeFileSync(handle, text);
    if (isDurable) fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
