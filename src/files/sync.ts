import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Syncs the folder that holds a file or folder: a new name survives a power loss only then. */
export function syncFolder(path: string): void {
  try {
    sync(dirname(path));
  } catch (error) {
    // Windows cannot open folders, and needs no such sync. Elsewhere a folder that may be entered may be unreadable.
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL'].includes(code)) throw error;
  }
}
