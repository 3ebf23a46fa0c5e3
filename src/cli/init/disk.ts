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
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { toError } from '../../errors.ts';
import { Refusal } from './refusal.ts';

const MAX_BYTES = 4 * 1024 * 1024;

/** A file below the root and what it holds; undefined: there is none. */
export interface FileChange {
  /** From the root, with slashes. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The text of a file below the root; undefined when there is none. Refuses what leads out of the root. */
export function readText(root: string, path: string, mayLeave = false): string | undefined {
  const file = locate(root, path, mayLeave);
  if (!existsSync(file)) return undefined;
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new Refusal('is not a regular file');
    if (stats.size > MAX_BYTES) throw new Refusal(`is larger than ${MAX_BYTES} bytes`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    throw new Refusal(`${path}: ${toError(error).message}; nothing was changed`);
  }
}

/** All of them or, when one cannot be written, none. */
export function writeAll(root: string, changes: readonly FileChange[], mayLeave = false): void {
  const done: FileChange[] = [];
  const made = changes.flatMap(({ path }) => listMissingFolders(root, path));
  try {
    for (const change of changes) {
      if (readText(root, change.path, mayLeave) !== change.before)
        throw new Refusal(`${change.path} has just been changed by somebody else; run init again`);
      write(root, change, mayLeave);
      done.push(change);
    }
  } catch (error) {
    for (const { path, before, after } of done.reverse()) write(root, { path, before: after, after: before }, mayLeave);
    for (const folder of made.reverse()) removeEmptyFolder(root, folder, mayLeave);
    throw error;
  }
}

/** The folders on the way to a file that do not exist yet, outermost first. */
export function listMissingFolders(root: string, path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts
    .map((_part, index) => parts.slice(0, index + 1).join('/'))
    .filter((folder) => !existsSync(join(root, folder)));
}

/** Removes it if nothing is in it. The record that names it may have come with a clone, and lead through a link. */
export function removeEmptyFolder(root: string, folder: string, mayLeave = false): void {
  try {
    rmdirSync(join(locate(root, dirname(folder), mayLeave), basename(folder)));
  } catch {
    // It is not empty, not there, a link, or outside of the project.
  }
}

/** Beside the file first, then in its place: a reader sees the old text or the new one. */
function write(root: string, { path, after }: FileChange, mayLeave: boolean): void {
  const file = locate(root, path, mayLeave);
  if (after === undefined) {
    rmSync(file, { force: true });
    return;
  }
  const beside = join(dirname(file), `.${basename(file)}.${process.pid}.new`);
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : path.startsWith('.colibri/') ? 0o600 : 0o666;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: path.startsWith('.colibri/') ? 0o700 : 0o777 });
    const handle = openSync(beside, 'wx', mode);
    try {
      writeSync(handle, after);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(beside, file);
  } catch (error) {
    if (existsSync(beside)) rmSync(beside);
    throw new Refusal(`${path} cannot be written: ${toError(error).message}`);
  }
}

/** Follows links, so that one is not replaced by a file, and refuses those that lead out of the root. */
function locate(root: string, path: string, mayLeave: boolean): string {
  const file = join(root, path);
  const existing = nearestExisting(file);
  const real = join(realpathSync(existing), relative(existing, file));
  if (mayLeave) return real;
  const base = realpathSync(root);
  if (real === base || real.startsWith(base.endsWith(sep) ? base : base + sep)) return real;
  throw new Refusal(`${path} leads out of the project, to ${real}; nothing was changed`);
}

function nearestExisting(file: string): string {
  if (existsSync(file)) return file;
  if (isLink(file)) throw new Refusal(`${file} is a link to nowhere; nothing was changed`);
  return nearestExisting(dirname(file));
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}
