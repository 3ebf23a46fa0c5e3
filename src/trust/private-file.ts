import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isOwnedByOther } from '../db/file-owner.ts';
import { createFolders } from '../files/create-folders.ts';
import { syncFolder } from '../files/sync.ts';

/** Files in the user's configuration folder that decide what is trusted: only their owner may write them. */

const MAX_BYTES = 65_536;

/** Writes a file with mode 0600, whole or not at all, and on disk when this returns. */
export function writePrivateFile(path: string, text: string): void {
  writeWhole(path, text, renameSync);
}

/** The same for a file that must not exist yet. Returns false if another process was faster. */
export function createPrivateFile(path: string, text: string): boolean {
  try {
    writeWhole(path, text, (partial, target) => {
      linkNew(partial, target);
      rmSync(partial, { force: true });
    });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether a file system refused a hard link because it has none. */
export function lacksHardLinks(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NO_LINKS.has(String(error.code));
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function linkNew(partial: string, target: string): void {
  try {
    linkSync(partial, target);
  } catch (error) {
    if (!lacksHardLinks(error)) throw error;
    // An empty file reserves the name, so that only one process replaces it.
    closeSync(openSync(target, 'wx', 0o600));
    renameSync(partial, target);
  }
}

/**
 * Returns true for a file or folder that no other user can change. False for a symbolic link: its target can change.
 */
export function isPrivate(path: string): boolean {
  try {
    const stats = lstatSync(path);
    if (!stats.isFile() && !stats.isDirectory()) return false;
    const mayBeWrittenByOthers = process.platform !== 'win32' && (stats.mode & 0o022) !== 0;
    return stats.size <= MAX_BYTES && !isOwnedByOther(stats) && !mayBeWrittenByOthers;
  } catch {
    return false;
  }
}

function writeWhole(path: string, text: string, place: (partial: string, target: string) => void): void {
  createFolders(dirname(path));
  const partial = `${path}.${randomBytes(4).toString('hex')}.partial`;
  try {
    const handle = openSync(partial, 'wx', 0o600);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    place(partial, path);
    syncFolder(path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}
