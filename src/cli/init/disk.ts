import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { toError } from '../../errors.ts';
import { createFolders } from '../../files/create-folders.ts';
import { FULL_DISK, isFullDisk, reasonOf } from '../../files/full-disk.ts';
import { lacksHardLinks } from '../../trust/private-file.ts';
import { CORRECT_FILE, InitError } from './init-error.ts';

const MAX_BYTES = 4 * 1024 * 1024;

/** The content of a file below the root before and after; undefined if there is no file. */
export interface FileChange {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Permissions of a new file. */
  readonly mode?: number;
  /** Set if the planner has checked that the file may be outside the root, as that of a linked work tree. */
  readonly mayLeave?: boolean;
}

/** Returns undefined if there is no such file. Unless `mayLeave` is set, refuses links that lead out of the root. */
export function readText(root: string, path: string, mayLeave = false): string | undefined {
  const file = locate(root, path, mayLeave);
  if (!existsSync(file)) return undefined;
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new InitError('is not a regular file');
    if (stats.size > MAX_BYTES) throw new InitError(`is larger than ${MAX_BYTES} bytes`);
    return decodeUtf8(readFileSync(file));
  } catch (error) {
    throw new InitError(`${path}: ${toError(error).message}`, { advice: CORRECT_FILE });
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InitError('is not valid UTF-8');
  }
}

/**
 * Writes all changes, or none if one of them fails. Everything that needs space is written beside the files first; then
 * names are replaced, so that a full disk changes no file, and readers see the old text or the new one.
 */
export function writeAll(root: string, changes: readonly FileChange[], mayLeave = false): void {
  const staged: StagedChange[] = [];
  const made = changes.flatMap(({ path }) => listMissingFolders(root, path));
  try {
    for (const change of changes) {
      const earlier = staged.findLast(({ path }) => path === change.path);
      const present = earlier === undefined ? readText(root, change.path, mayLeave || change.mayLeave) : earlier.after;
      if (present !== change.before)
        throw new InitError(`another program has just changed ${change.path}`, { advice: 'run init again' });
      const file = locate(root, change.path, mayLeave || change.mayLeave === true);
      const beside = (suffix: string) =>
        join(dirname(file), `.${basename(file)}.${process.pid}-${staged.length}.${suffix}`);
      staged.push({ ...change, file, next: beside('new'), kept: beside('old'), isPlaced: false });
      stage(staged.at(-1) as StagedChange);
    }
    for (const change of staged) place(change);
  } catch (error) {
    for (const change of staged.toReversed()) undo(change);
    for (const folder of made.reverse()) removeEmptyFolder(root, folder, mayLeave);
    throw error;
  }
  for (const { kept } of staged) removeIfPossible(kept);
}

interface StagedChange extends FileChange {
  readonly file: string;
  /** The new text under another name. */
  readonly next: string;
  /** Another name of the present file. */
  readonly kept: string;
  isPlaced: boolean;
}

/** The parent folders of a file that do not exist yet, outermost first. */
export function listMissingFolders(root: string, path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts
    .map((_part, index) => parts.slice(0, index + 1).join('/'))
    .filter((folder) => !existsSync(join(root, folder)));
}

/** Links are checked, because the record that names the folder may have come with a clone. */
export function removeEmptyFolder(root: string, folder: string, mayLeave = false): void {
  try {
    rmdirSync(join(locate(root, dirname(folder), mayLeave), basename(folder)));
  } catch {
    // The folder is not empty, missing, a link, or outside the project: it stays.
  }
}

function stage({ path, file, next, kept, after, mode: newMode }: StagedChange): void {
  const isPrivate = path.startsWith('.colibri/');
  const isThere = existsSync(file);
  const mode = isThere ? statSync(file).mode & 0o777 : (newMode ?? (isPrivate ? 0o600 : 0o666));
  try {
    if (isThere) keep(file, kept);
    if (after === undefined) return;
    createFolders(dirname(file), isPrivate ? 0o700 : 0o777);
    const handle = openSync(next, 'wx', mode);
    try {
      writeFileSync(handle, after);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw new InitError(
      `cannot write ${path}: ${reasonOf(error)}`,
      isFullDisk(error) ? { advice: FULL_DISK.advice } : {},
    );
  }
}

function keep(file: string, kept: string): void {
  try {
    linkSync(file, kept);
  } catch (error) {
    if (!lacksHardLinks(error)) throw error;
    copyFileSync(file, kept);
  }
}

function place(change: StagedChange): void {
  const { path, file, next, after } = change;
  try {
    if (after === undefined) rmSync(file, { force: true });
    else renameSync(next, file);
    change.isPlaced = true;
  } catch (error) {
    throw new InitError(
      `cannot write ${path}: ${reasonOf(error)}`,
      isFullDisk(error) ? { advice: FULL_DISK.advice } : {},
    );
  }
}

function undo({ file, next, kept, isPlaced }: StagedChange): void {
  removeIfPossible(next);
  if (isPlaced && existsSync(kept)) renameSync(kept, file);
  else if (isPlaced) rmSync(file, { force: true });
  else removeIfPossible(kept);
}

/** What stays is another name of a file, and does not make a finished change fail. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The disk refuses it.
  }
}

/** Follows links, so that a link is not replaced by a file, and refuses those that lead out of the root. */
function locate(root: string, path: string, mayLeave: boolean): string {
  const file = join(root, path);
  const existing = nearestExisting(file);
  const real = join(realpathSync(existing), relative(existing, file));
  if (mayLeave) return real;
  const base = realpathSync(root);
  if (real === base || real.startsWith(base.endsWith(sep) ? base : base + sep)) return real;
  throw new InitError(`${path} is a link out of the project, to ${real}`, { advice: 'replace it with a file' });
}

function nearestExisting(file: string): string {
  if (existsSync(file)) return file;
  if (isLink(file)) throw new InitError(`${file} is a broken link`, { advice: 'remove it' });
  return nearestExisting(dirname(file));
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}
