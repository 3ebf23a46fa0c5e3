import { isUuid } from '../integrity/index.ts';

/**
 * A stored process id is data from a file that anyone may have written, and on SQLite it becomes part of a path. Lower
 * case only: some file systems do not tell the cases apart.
 */
export function isProcessId(value: unknown): value is string {
  return isUuid(value);
}

export function assertProcessId(value: string): void {
  if (!isProcessId(value)) throw new Error('a process id must be a lower-case version 4 UUID');
}
