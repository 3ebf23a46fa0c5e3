import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOwnedByOther } from '../db/file-owner.ts';
import { findTracking } from './find-tracked.ts';

/** A sign that Colibri did not create this ledger here. */
export interface Concern {
  readonly path: string;
  /** The predicate of a sentence whose subject is the path. */
  readonly says: string;
  /** False: opening it could affect other files, so only COLIBRI_DB_PATH allows it. */
  readonly isAcceptable: boolean;
  /** Git has it in its index, or may have. */
  readonly isTracked?: boolean;
}

const SIDE_FILES = ['', '-wal', '-shm', '-journal'] as const;
const FOR_OTHERS = 0o077;

/** Checks names, file types, owners, permissions and git's index. Opens no database and follows no link. */
export function listConcerns(databasePath: string): Concern[] {
  const folder = dirname(databasePath);
  const stats = statOf(folder);
  if (stats === undefined) return [];
  if (stats.isSymbolicLink()) return [unsafe(folder, 'is a symbolic link')];
  // Opening reports a path that is not a folder.
  if (!stats.isDirectory()) return [];
  const unsafeFiles = listFiles(databasePath).flatMap(concernsAbout);
  const signs = isOwnedByOther(stats) ? [unsafe(folder, 'belongs to another user')] : [];
  if (signs.length > 0 || unsafeFiles.length > 0) return [...signs, ...unsafeFiles];
  return listSigns(databasePath, stats);
}

/** The file and its existing side files. */
export function listDatabaseFiles(databasePath: string): string[] {
  return SIDE_FILES.map((suffix) => `${databasePath}${suffix}`).filter((path) => statOf(path)?.isFile() === true);
}

export function isOpenToOthers(path: string): boolean {
  const stats = statOf(path);
  return stats !== undefined && hasModeForOthers(stats);
}

function listSigns(databasePath: string, folderStats: Stats): Concern[] {
  const files = listDatabaseFiles(databasePath);
  // Side files alone are not a ledger: SQLite removes them when it creates a new file.
  if (!files.includes(databasePath)) return [];
  const open = files.filter(isOpenToOthers);
  if (hasModeForOthers(folderStats)) open.unshift(dirname(databasePath));
  return [...listTracked(databasePath, files), ...open.map((path) => sign(path, 'is open to other users'))];
}

function listTracked(databasePath: string, files: readonly string[]): Concern[] {
  const track = (paths: readonly string[]) =>
    findTracking(
      dirname(databasePath),
      paths.map((path) => basename(path)),
    );
  const tracking = track(files);
  if (tracking === 'untracked') return [];
  // Each file is looked up only if one of them is tracked: an index may be long.
  if (tracking === 'tracked')
    return files.filter((path) => track([path]) === 'tracked').map((path) => tracked(path, 'is tracked by git'));
  return [tracked(databasePath, 'may be tracked by git: the index of the repository cannot be read')];
}

/** Every file that SQLite or Colibri would open by its name. */
function listFiles(databasePath: string): string[] {
  const [folder, name] = [dirname(databasePath), basename(databasePath)];
  const fixed = SIDE_FILES.map((suffix) => `${databasePath}${suffix}`);
  try {
    const presence = readdirSync(folder).filter((file) => file.startsWith(`${name}-`) && file.endsWith('.live'));
    return [...fixed, ...presence.map((file) => join(folder, file))];
  } catch {
    // The folder may be entered but not listed.
    return fixed;
  }
}

function concernsAbout(path: string): Concern[] {
  const stats = statOf(path);
  // Opening reports a folder at the path of a file.
  if (stats === undefined || stats.isDirectory()) return [];
  if (stats.isSymbolicLink()) return [unsafe(path, 'is a symbolic link')];
  if (!stats.isFile()) return [unsafe(path, 'is not a regular file')];
  if (isOwnedByOther(stats)) return [unsafe(path, 'belongs to another user')];
  return stats.nlink > 1 ? [unsafe(path, 'is a hard link: the same file has another name')] : [];
}

/** Windows has no such permissions. */
function hasModeForOthers({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & FOR_OTHERS) !== 0;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A parent is a file or may not be entered.
    return undefined;
  }
}

function unsafe(path: string, says: string): Concern {
  return { path, says, isAcceptable: false };
}

function sign(path: string, says: string): Concern {
  return { path, says, isAcceptable: true };
}

function tracked(path: string, says: string): Concern {
  return { ...sign(path, says), isTracked: true };
}
