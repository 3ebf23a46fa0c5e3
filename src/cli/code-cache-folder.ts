import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { isOwnedByOther } from '../db/file-owner.ts';
import { findHomeFolder } from '../home-folder.ts';

const FOR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * A folder for compiled code that no other user can write to: V8 runs what it finds there. Node's own default is in the
 * temporary folder, where on most systems every user can create it first. Beside the program if it belongs to this
 * user: a user who can write there can change the program itself. Otherwise in the home folder. Undefined if neither is
 * safe.
 */
export function findCodeCacheFolder(program: string, findHome = findHomeFolder): string | undefined {
  const beside = join(dirname(program), '.code-cache');
  if (isOwn(dirname(program)) && createPrivate(beside)) return beside;
  const home = findHome();
  if (home === undefined || !isSafe(home)) return undefined;
  const caches = join(home, '.cache');
  const own = join(caches, 'colibri');
  return create(caches) && isSafe(caches) && createPrivate(own) ? own : undefined;
}

function createPrivate(folder: string): boolean {
  return create(folder) && isOwn(folder, FOR_OTHERS);
}

function isSafe(folder: string): boolean {
  return isOwn(folder, WRITABLE_BY_OTHERS);
}

/** Whether this user owns the folder, which is no link, and others have none of these permissions. */
function isOwn(folder: string, forbidden = 0): boolean {
  const stats = look(folder);
  return stats?.isDirectory() === true && !isOwnedByOther(stats) && (stats.mode & forbidden) === 0;
}

/** Undefined also for what cannot be looked at: no program may fail for want of this folder. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** False if it neither exists nor can be created. */
function create(folder: string): boolean {
  if (look(folder) !== undefined) return true;
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST';
  }
}
