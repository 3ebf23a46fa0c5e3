import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { explainFault, faultOfSystemError } from '../errors.ts';

export function inodeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino;
  } catch {
    // A parent of the path is a file.
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
