import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** `.git` exists and leads to no repository. */
export class NotARepository extends Error {}

const MAX_FILE_BYTES = 1_048_576;

/**
 * Returns the folder with a work tree's own git data, or undefined without `.git`. In a linked work tree and in a
 * submodule `.git` is a file that names the folder. Throws `NotARepository` if it names none.
 */
export function findGitFolder(workTree: string): string | undefined {
  const path = join(workTree, '.git');
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const stats = statSync(path);
  if (stats.isDirectory()) return path;
  if (!stats.isFile()) throw new NotARepository('.git is not a file or folder');
  const [, named] = /^gitdir: ([^\r\n]+)$/.exec(readPointer(path)) ?? [];
  if (named === undefined || !statSync(resolve(workTree, named)).isDirectory())
    throw new NotARepository('.git names no folder');
  return resolve(workTree, named);
}

/** Reads one of git's files that hold a path, without the line breaks at its end. */
export function readPointer(path: string): string {
  return readGitFile(path).replace(/(?<![\r\n])[\r\n]+$/, '');
}

/** Anyone may have written the file: a pipe would never end, and a huge file would fill the memory. */
export function readGitFile(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > MAX_FILE_BYTES) throw new NotARepository(`${path} is not a file of git`);
  return readFileSync(path, 'utf8');
}
