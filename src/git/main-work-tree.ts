import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { findGitFolder, readPointer } from './git-folder.ts';

/**
 * Returns the main work tree of a linked one (`git worktree add`), or the repository's own folder if it is bare.
 * Returns undefined for every other folder: main work trees, submodules, and folders that only claim to be linked.
 */
export function findMainWorkTree(workTree: string): string | undefined {
  try {
    const pointer = join(workTree, '.git');
    const gitFolder = lstatSync(pointer).isFile() ? findGitFolder(workTree) : undefined;
    if (gitFolder === undefined || !existsSync(join(gitFolder, 'commondir'))) return undefined;
    // An unpacked archive can hold a .git file that names any repository; only a linked work tree is named back.
    const namedBack = resolve(gitFolder, readPointer(join(gitFolder, 'gitdir')));
    if (realpathSync(namedBack) !== realpathSync(pointer)) return undefined;
    return workTreeOf(realpathSync(resolve(gitFolder, readPointer(join(gitFolder, 'commondir')))));
  } catch {
    // A repository that is damaged, or was moved without `git worktree repair`, links nothing.
    return undefined;
  }
}

function workTreeOf(repository: string): string {
  const [, elsewhere] = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(coreSection(join(repository, 'config'))) ?? [];
  if (elsewhere !== undefined) return resolve(repository, elsewhere);
  return basename(repository) === '.git' ? dirname(repository) : repository;
}

/** Git writes `core.worktree` when the main work tree does not contain the repository, as for a submodule. */
function coreSection(path: string): string {
  const config = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return /^\[core\]([^[]*)/m.exec(config)?.[1] ?? '';
}
