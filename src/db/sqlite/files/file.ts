import { closeSync, existsSync, openSync, type Stats, statSync } from 'node:fs';
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
