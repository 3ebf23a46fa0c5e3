import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
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
import { InitError } from './init-error.ts';

const MAX_BYTES = 4 * 1024 * 1024;

/** The content of a file below the root before and after; undefined if there is no file. */
export interface FileChange {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Of a new file. */
  readonly mode?: number;
  /** Set if the planner has checked that the file may be outside of the root, as that of a linked work tree. */
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
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    throw new InitError(`${path}: ${toError(error).message}`);
  }
}

/** Writes all changes, or none if one of them fails. */
export function writeAll(root: string, changes: readonly FileChange[], mayLeave = false): void {
  const done: FileChange[] = [];
  const made = changes.flatMap(({ path }) => listMissingFolders(root, path));
  try {
    for (const change of changes) {
      if (readText(root, change.path, mayLeave || change.mayLeave) !== change.before)
        throw new InitError(`another program has just changed ${change.path}`, { advice: 'run init again' });
      write(root, change, mayLeave);
      done.push(change);
    }
  } catch (error) {
    for (const { before, after, ...file } of done.reverse())
      write(root, { ...file, before: after, after: before }, mayLeave);
    for (const folder of made.reverse()) removeEmptyFolder(root, folder, mayLeave);
    throw error;
  }
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
    // Not empty, missing, a link, or outside the project: left alone.
  }
}

/** Writes a temporary file and renames it, so that readers see the old text or the new one. */
function write(root: string, { path, after, mode: newMode, mayLeave: isChecked }: FileChange, mayLeave: boolean): void {
  const file = locate(root, path, mayLeave || isChecked === true);
  if (after === undefined) {
    rmSync(file, { force: true });
    return;
  }
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.new`);
  const isPrivate = path.startsWith('.colibri/');
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : (newMode ?? (isPrivate ? 0o600 : 0o666));
  try {
    mkdirSync(dirname(file), { recursive: true, mode: isPrivate ? 0o700 : 0o777 });
    const handle = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(handle, after);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  } catch (error) {
    if (existsSync(temporary)) rmSync(temporary);
    throw new InitError(`cannot write ${path}: ${toError(error).message}`);
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
