import { accessSync, closeSync, constants, existsSync, openSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseError } from '../../database.ts';
import { explainFault, faultOfSystemError } from '../errors.ts';

export function inodeOf(path: string): number | undefined {
  return statOf(path)?.ino;
}

/** SQLite waits forever for the other end of a FIFO, also beside the ledger, and no signal ends the wait. */
export function assertRegularFiles(path: string): void {
  for (const file of ['', '-wal', '-shm'].map((suffix) => `${path}${suffix}`)) {
    const stats = statOf(file);
    if (stats === undefined || stats.isFile()) continue;
    const kind = stats.isDirectory() ? 'a folder' : 'not a regular file';
    throw new DatabaseError('unavailable', `${file} cannot be opened: it is ${kind}`, {
      advice: 'remove it, or set COLIBRI_DB_PATH to a file',
    });
  }
}

/** Whether there is a file. Throws if this user cannot tell: a new ledger must not be offered instead of it. */
export function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw explainUnreachable(path, error);
  }
}

function explainUnreachable(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const blocked = foldersOf(path).find((folder) => !(code === 'ENOTDIR' ? isFolder(folder) : mayEnter(folder)));
  if (blocked === undefined) return explainFault(path, faultOfSystemError(error), error);
  const [problem, advice] =
    code === 'ENOTDIR'
      ? ['is not a folder', 'remove it, or set COLIBRI_DB_PATH to a file elsewhere']
      : ['may not be entered by this user', 'check its owner and permissions'];
  return new DatabaseError('unavailable', `${blocked} ${problem}, so that the ledger cannot be opened`, {
    advice,
    cause: error,
  });
}

/** From the root down to the folder of the path. */
function foldersOf(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...foldersOf(folder), folder];
}

function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() ?? false;
}

function mayEnter(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // A parent of the path is a file, or may not be entered; opening it reports that.
    return undefined;
  }
}

/**
 * SQLite gives its side files the mode of the main one. Never opens an existing file: closing it would drop the locks
 * that this process holds on it (POSIX).
 */
export function createForOwnerOnly(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (existsSync(path)) return;
    throw explainFault(path, faultOfSystemError(error), error);
  }
}
