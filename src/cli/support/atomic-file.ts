import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXIT, Refusal } from './command-result.ts';

/** Gives a finished file its name, all at once, and never takes the name from another file. */
export function publish(partial: string, target: string): void {
  assertFree(target);
  sync(partial);
  try {
    linkSync(partial, target);
    unlinkSync(partial);
  } catch (error) {
    // Some file systems have no links; there the look above must do.
    assertFree(target);
    if (!hasCode(error, ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])) throw error;
    renameSync(partial, target);
  }
  syncFolder(target);
}

/** SQLite would mix what an older database left beside the name into the new one. */
export function assertFree(target: string): void {
  const taken = withSideFiles(target).find((path) => existsSync(path));
  if (taken !== undefined) {
    throw new Refusal(EXIT.badInput, 'bad input', `${taken} exists and is not overwritten; name another file`);
  }
}

export function removeDatabase(path: string): void {
  for (const file of withSideFiles(path)) rmSync(file, { force: true });
}

function withSideFiles(path: string): string[] {
  return ['', '-wal', '-shm', '-journal'].map((suffix) => `${path}${suffix}`);
}

/** A name is safe once its folder has reached the disk. */
export function syncFolder(path: string): void {
  try {
    sync(dirname(path));
  } catch (error) {
    // Windows opens no folders, and needs no such thing.
    if (!hasCode(error, ['EISDIR', 'EPERM', 'EACCES', 'EINVAL'])) throw error;
  }
}

export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function timeStamp(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, '-');
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
