import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findGitFolder, readGitFile, readPointer } from './git-folder.ts';

/**
 * Returns the main work tree of a linked one (`git worktree add`), or the repository's own folder if no work tree leads
 * to it, as for a bare one. Returns undefined for every other folder: main work trees, submodules, and folders that
 * only claim to be linked.
 */
export function findMainWorkTree(workTree: string): string | undefined {
  try {
    const pointer = join(workTree, '.git');
    const gitFolder = lstatSync(pointer).isFile() ? findGitFolder(workTree) : undefined;
    if (gitFolder === undefined || !existsSync(join(gitFolder, 'commondir'))) return undefined;
    const repository = realpathSync(resolve(gitFolder, readPointer(join(gitFolder, 'commondir'))));
    // An unpacked archive can hold a .git file that names any repository, and its own folder in between. Only the
    // repository itself proves a link: with a folder in its `worktrees` that names this work tree back.
    if (dirname(realpathSync(gitFolder)) !== join(repository, 'worktrees')) return undefined;
    const namedBack = resolve(gitFolder, readPointer(join(gitFolder, 'gitdir')));
    if (realpathSync(namedBack) !== realpathSync(pointer)) return undefined;
    return findWorkTreeOf(repository) ?? repository;
  } catch {
    // A repository that is damaged, or was moved without `git worktree repair`, links nothing.
    return undefined;
  }
}

/** Whether a repository has a main work tree that git does not record, as after `git init --separate-git-dir`. */
export function hasUnknownWorkTree(repository: string): boolean {
  const isBare = !/^[ \t]*bare[ \t]*=[ \t]*false[ \t\r]*$/m.test(coreSection(join(repository, 'config')));
  return !isBare && findWorkTreeOf(repository) === undefined;
}

/** Whether the repository that `.git` leads to belongs to this work tree: an unpacked archive can name any other. */
export function isOwnRepository(workTree: string): boolean {
  const pointer = join(workTree, '.git');
  if (lstatSync(pointer).isDirectory()) return true;
  if (findMainWorkTree(workTree) !== undefined) return true;
  const gitFolder = lstatSync(pointer).isFile() ? findGitFolder(workTree) : undefined;
  if (gitFolder === undefined) return false;
  const found = findWorkTreeOf(realpathSync(gitFolder));
  return found !== undefined && realpathSync(found) === realpathSync(workTree);
}

/** Whether the repository of this work tree has no other one. */
export function isOnlyWorkTree(workTree: string): boolean {
  try {
    const gitFolder = findGitFolder(workTree);
    if (gitFolder === undefined || existsSync(join(gitFolder, 'commondir'))) return false;
    const linked = join(gitFolder, 'worktrees');
    return !existsSync(linked) || readdirSync(linked).length === 0;
  } catch {
    return false;
  }
}

/**
 * Returns the repository that a `.git` file names, if it has linked work trees and does not record this one as its main
 * work tree. Nothing proves that it is: an unpacked archive can name any repository.
 */
export function findUnprovenRepository(workTree: string): string | undefined {
  try {
    if (!lstatSync(join(workTree, '.git')).isFile()) return undefined;
    const repository = realpathSync(findGitFolder(workTree) ?? '');
    if (existsSync(join(repository, 'commondir')) || !hasUnknownWorkTree(repository)) return undefined;
    return readdirSync(join(repository, 'worktrees')).length > 0 ? repository : undefined;
  } catch {
    return undefined;
  }
}

/** The folder that the configuration names, else the one around the repository, if its `.git` leads back. */
function findWorkTreeOf(repository: string): string | undefined {
  const config = coreSection(join(repository, 'config'));
  const [, value = ''] = /^[ \t]*worktree[ \t]*=(.*)$/m.exec(config) ?? [];
  const [, configured] = /^"?([^"]+)"?$/.exec(value.trim()) ?? [];
  const candidates = [configured === undefined ? [] : resolve(repository, configured), dirname(repository)].flat();
  return candidates.find((folder) => leadsTo(folder, repository));
}

function leadsTo(workTree: string, repository: string): boolean {
  try {
    const gitFolder = findGitFolder(workTree);
    return gitFolder !== undefined && realpathSync(gitFolder) === repository;
  } catch {
    return false;
  }
}

/** Git writes `core.worktree` when the main work tree does not contain the repository, as for a submodule. */
function coreSection(path: string): string {
  const config = existsSync(path) ? readGitFile(path) : '';
  return /^\[core\]([^[]*)/m.exec(config)?.[1] ?? '';
}
