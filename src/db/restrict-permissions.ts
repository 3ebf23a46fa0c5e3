import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';

/** Removes all permissions of other users; follows no link. Not for a file on which this process holds a lock. */
export function restrictPermissions(path: string): void {
  if (process.platform === 'win32') return;
  try {
    const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      fchmodSync(handle, fstatSync(handle).isDirectory() ? 0o700 : 0o600);
    } finally {
      closeSync(handle);
    }
  } catch {
    // A file system without permissions, or a missing file: opening the ledger reports what is wrong.
  }
}
