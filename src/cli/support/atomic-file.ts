import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sync, syncFolder } from '../../files/sync.ts';
import { lacksHardLinks } from '../../trust/private-file.ts';
import { CommandError } from './command-result.ts';

/** Renames a finished file in one step. Never replaces another file. */
export function publish(partial: string, target: string): void {
  assertFree(target);
  sync(partial);
  try {
    linkSync(partial, target);
    unlinkSync(partial);
  } catch (error) {
    // On file systems without hard links the checks before and after must do.
    assertFree(target);
    if (!lacksHardLinks(error)) throw error;
    renameSync(partial, target);
  }
  syncFolder(target);
}

/** Writes a file for its owner. It is there as a whole or not at all. */
export function writeNewFile(target: string, content: string | Buffer): void {
  assertFree(target);
  // Not the name of the target with a suffix, which could be too long.
  const partial = join(dirname(target), `colibri-${randomBytes(4).toString('hex')}.partial`);
  try {
    writeFileSync(partial, content, { flag: 'wx', mode: 0o600 });
    publish(partial, target);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Also refuses side files of an older database, which SQLite would apply to the new one. */
export function assertFree(target: string): void {
  if (!isFolder(dirname(target)))
    throw new CommandError('bad input', `no folder ${dirname(target)}`, { advice: 'create it first' });
  const taken = withSideFiles(target).find((path) => existsSync(path));
  if (taken !== undefined) {
    throw new CommandError('bad input', `${taken} exists and is not overwritten`, { advice: 'choose another file' });
  }
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

export function removeDatabase(path: string): void {
  for (const file of withSideFiles(path)) rmSync(file, { force: true });
}

const SIDE_FILES = ['-wal', '-shm', '-journal'];

/** Whether SQLite would use this name for a side file of a database. */
export function isSideFile(path: string): boolean {
  return SIDE_FILES.some((suffix) => path.endsWith(suffix));
}

function withSideFiles(path: string): string[] {
  return ['', ...SIDE_FILES].map((suffix) => `${path}${suffix}`);
}

export function timeStamp(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, '-');
}
