import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { findGitFolder } from '../git/git-folder.ts';
import { foldPath, NotAnIndex, scanIndex } from './git-index.ts';

/** `unknown`: there is an index, and it cannot be read. */
export type Tracking = 'tracked' | 'untracked' | 'unknown';

/** More than the index of any real repository; nothing larger is read into memory. */
const MAX_INDEX_BYTES = 2 ** 30;

/** Whether a repository around this folder tracks one of these files in it. */
export function findTracking(folderOfFiles: string, names: readonly string[]): Tracking {
  // The name as stored on disk: a file system that ignores case also finds a folder by a name of different case.
  const realFolder = realpathSync.native(folderOfFiles);
  const files = names.map((name) => join(realFolder, name));
  // Every repository up to the top: one that was made inside a clone does not hide what came with the clone.
  for (let folder = realFolder; ; folder = dirname(folder)) {
    const tracking = trackingIn(folder, files);
    if (tracking !== 'untracked' || folder === dirname(folder)) return tracking;
  }
}

function trackingIn(folder: string, files: readonly string[]): Tracking {
  const paths = new Set(files.flatMap((file) => listNames(relative(folder, file).split(sep))));
  try {
    const gitFolder = findGitFolder(folder);
    if (gitFolder === undefined) return 'untracked';
    return isListed(gitFolder, 'index', paths) ? 'tracked' : 'untracked';
  } catch {
    return 'unknown';
  }
}

/** The file, and the folders above it: a sparse index lists a folder in place of its files. */
function listNames(parts: readonly string[]): string[] {
  const folders = parts.slice(1).map((_, at) => `${parts.slice(0, at + 1).join('/')}/`);
  return [parts.join('/'), ...folders].map(foldPath);
}

function isListed(gitFolder: string, name: string, paths: ReadonlySet<string>): boolean {
  const path = join(gitFolder, name);
  // A new repository has no index. A shared one is missing only if the repository is damaged: statSync throws.
  if (name === 'index' && !existsSync(path)) return false;
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > MAX_INDEX_BYTES) throw new NotAnIndex('is not a regular file, or is too large');
  const { isTracked, sharedIndex } = scanIndex(readFileSync(path), paths);
  if (isTracked || sharedIndex === undefined) return isTracked;
  if (name !== 'index') throw new NotAnIndex('is split twice');
  return isListed(gitFolder, `sharedindex.${sharedIndex}`, paths);
}
