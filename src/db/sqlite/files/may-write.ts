import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

const FOR_WRITING = 0o222;

/** Whether this user may write the file and its folder. A mode that lets no user write counts for root, too. */
export function mayWriteLedger(path: string): boolean {
  return mayWrite(path) && mayWrite(dirname(path));
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return process.platform === 'win32' || (statSync(path).mode & FOR_WRITING) !== 0;
  } catch {
    return false;
  }
}
