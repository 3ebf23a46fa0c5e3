import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from './sync.ts';

/**
 * Creates missing folders, for their owner unless a mode is given. They are on disk when this returns. Not with a
 * recursive mkdir, which never returns below /proc on Node 20.
 */
export function createFolders(folder: string, mode = 0o700): void {
  if (existsSync(folder)) return;
  createFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
    syncFolder(folder);
  } catch (error) {
    // Another process may have created it concurrently.
    if (!existsSync(folder)) throw error;
  }
}
