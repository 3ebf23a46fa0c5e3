import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { AdvisedError, toError } from '../errors.ts';

/** What every command, server and hook says about a disk without space. */
export const FULL_DISK = { problem: 'the disk is full', advice: 'free some space and try again' } as const;

const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether the system reported that the disk, or the user's share of it, is full. */
export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(error.code);
}

/** An error of the system as people read it: a full disk in words, anything else unchanged. */
export function explainFullDisk(thrown: unknown): Error {
  const error = toError(thrown);
  if (!isFullDisk(error)) return error;
  const { path } = error as NodeJS.ErrnoException;
  const problem = path === undefined ? FULL_DISK.problem : `${path}: ${FULL_DISK.problem}`;
  return new AdvisedError(problem, { advice: FULL_DISK.advice, cause: error });
}

/** The reason of a failure, for a message that names the file and has an advice of its own. */
export function reasonOf(error: unknown): string {
  return isFullDisk(error) ? FULL_DISK.problem : toError(error).message;
}

/**
 * Whether the disk of a file has no space left. SQLite reports some of its failures on such a disk without the reason.
 */
export function hasNoSpace(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    return false;
  }
}
