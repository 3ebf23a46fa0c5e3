import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from './sync.ts';

/** Creates missing folders with mode 0700, on disk when this returns. Not with a recursive mkdir, which never returns below /proc on Node 20. */
export function createFolders(folder: string): void {
  if (!existsSync(dirname(folder))) createFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
    syncFolder(folder);
  } catch (error) {
    // Another process may have created it concurrently.
    if (!existsSync(folder)) throw error;
  }
}
