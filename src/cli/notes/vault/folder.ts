import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { toError } from '../../../errors.ts';
import { createFolders } from '../../../files/create-folders.ts';
import { FULL_DISK, isFullDisk, reasonOf } from '../../../files/full-disk.ts';
import { CommandError } from '../../support/command-result.ts';
import { FOLDERS } from './file-names.ts';
import { type Note, parseNote, renderNote } from './note-file.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** `leftAlone`: a file of this name is not from this ledger, or cannot be changed safely. */
export type Written = 'written' | 'unchanged' | { readonly leftAlone: string };

/** Creates the folder if needed. Refuses one where notes could do damage. Returns its real path. */
export function openVault(folder: string, workingFolder: string): string {
  const path = resolve(workingFolder, folder);
  if (folder.trim() === '') throw refusal('the folder has no name', 'pass a folder: --markdown notes');
  assertNoLinks(path, realpathSync(workingFolder), workingFolder);
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (existing !== undefined && !existing.isDirectory())
    throw refusal(`${path} is not a folder`, 'choose another name');
  assertOutsideOf(['.git', '.colibri'], nearestReal(path));
  prepareFolders(path);
  return realpathSync(path);
}

/** Before each export: a person may have moved a folder, or put a link in its place. */
export function prepareFolders(root: string): void {
  for (const name of FOLDERS) assertFolderOrFree(join(root, name));
  for (const name of FOLDERS) createFolders(join(root, name));
}

/** Links of the system above the working folder are fine; one in a project may have come with a clone. */
function assertNoLinks(path: string, realBase: string, base: string): void {
  const inside = [base, realBase].find((folder) => path === folder || path.startsWith(folder + sep));
  const parts = inside === undefined ? [''] : relative(inside, path).split(sep);
  const start = inside ?? path;
  for (let count = parts.length; count > 0; count -= 1) {
    const place = join(start, ...parts.slice(0, count));
    if (place !== inside && lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink())
      throw refusal(`${place} is a link`, 'pass the folder that it leads to, if you trust it');
  }
}

function nearestReal(path: string): string {
  const existing = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return existing || dirname(path) === path ? realpathSync(path) : join(nearestReal(dirname(path)), basename(path));
}

/**
 * Git takes its configuration and hooks from its folder, and the ledger is private. Names are compared without case.
 */
function assertOutsideOf(names: readonly string[], real: string): void {
  const found = real.split(sep).find((part) => names.includes(part.toLowerCase()));
  if (found !== undefined) throw refusal(`${real} is inside ${found}`, 'choose another folder');
}

function assertFolderOrFree(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isDirectory())
    throw refusal(`${path} is not a folder`, 'move it, or choose another folder');
}

function refusal(problem: string, advice: string): CommandError {
  return new CommandError('bad input', problem, { advice });
}

/** The names of the notes in one of the folders. */
export function listNotes(root: string, folder: (typeof FOLDERS)[number]): Set<string> {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
  return new Set(names.map((name) => `${folder}/${name}`));
}

/** Writes the note unless it is unchanged; keeps what a person added to it. */
export function writeNote(root: string, note: Note, ledgerId: string): Written {
  const path = join(root, note.path);
  const existing = readFile(path);
  if (existing === undefined) return create(path, renderNote(note, ledgerId));
  if ('problem' in existing) return { leftAlone: existing.problem };
  const parsed = parseNote(existing.text, ledgerId);
  if (parsed.kind === 'foreign') return { leftAlone: parsed.reason };
  const text = renderNote(note, ledgerId, parsed.additions);
  return text === existing.text ? 'unchanged' : replace(path, text, existing.stats);
}

type Existing = { readonly text: string; readonly stats: Stats } | { readonly problem: string };

/** Undefined if there is no such file. Never follows a link, and never waits for a pipe. */
export function readFile(path: string): Existing | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile()) return { problem: 'is not a regular file' };
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const stats = fstatSync(file);
      if (stats.size > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` };
      return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file)), stats };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return { problem: `cannot be read (${toError(error).message})` };
  }
}

/** Does not replace a file that another program has just created. */
function create(path: string, text: string): Written {
  return withTemporary(path, text, { mode: 0o600, isDurable: false }, (temporary) => {
    try {
      linkSync(temporary, path);
      return 'written';
    } catch (error) {
      if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return { leftAlone: 'has just been created' };
      if (!NO_HARD_LINKS.has(String((error as NodeJS.ErrnoException).code))) throw error;
      renameSync(temporary, path);
      return 'written';
    }
  });
}

const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES']);

/** Synced first: after a power loss, the text of a person must not be gone. */
function replace(path: string, text: string, before: Stats): Written {
  return withTemporary(path, text, { mode: before.mode & 0o777, isDurable: true }, (temporary) => {
    const now = lstatSync(path, { throwIfNoEntry: false });
    const isSame = now?.ino === before.ino && now.size === before.size && now.mtimeMs === before.mtimeMs;
    if (!isSame) return { leftAlone: 'is being edited; the next export will update it' };
    renameSync(temporary, path);
    return 'written';
  });
}

/** Other programs see the old text or the new one. */
export function withTemporary<Result>(
  path: string,
  text: string,
  { mode, isDurable }: { readonly mode: number; readonly isDurable: boolean },
  publish: (temporary: string) => Result,
): Result {
  const temporary = join(dirname(path), `.${basename(path)}.${nextSuffix()}.tmp`);
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(file, text);
      if (isDurable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return publish(temporary);
  } catch (error) {
    throw new CommandError('cannot tell', `cannot write ${path}: ${reasonOf(error)}`, {
      advice: isFullDisk(error) ? FULL_DISK.advice : 'make room or let this user write there, and run the export again',
      cause: error,
    });
  } finally {
    rmSync(temporary, { force: true });
  }
}

const PROCESS_SUFFIX = randomBytes(6).toString('hex');
let files = 0;

/** No other export uses it, and a file that a killed one left does not have it. */
function nextSuffix(): string {
  files += 1;
  return `${PROCESS_SUFFIX}-${files}`;
}
