import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { createGitEnvironment } from '../../../config.ts';
import { isOwnRepository } from '../../../git/main-work-tree.ts';
import { runGit } from '../../../git/run-git.ts';

interface Repository {
  readonly top: string;
  /** The folder that the work trees of the repository share. */
  readonly common: string;
}

interface HooksFolder extends Repository {
  /** Where a hook is, or would be created. */
  readonly folder: string;
}

interface RefusedHooks {
  readonly refused: string;
  /** Unless it may be another one than that of the project. */
  readonly repository?: Repository;
}

/** Where the hooks of the repository around a project are, or why they cannot be changed. */
export async function findHooksFolder(root: string): Promise<HooksFolder | RefusedHooks> {
  // The variables of a hook that runs this command name the repository of the hook.
  const env = createGitEnvironment({ GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_COMMON_DIR: undefined });
  const ask = async (cwd: string, ...args: readonly string[]) =>
    (await runGit(['rev-parse', ...args], { env, cwd })).replace(/\n$/, '');
  try {
    if ((await ask(root, '--is-bare-repository')) === 'true')
      return { refused: 'a bare repository has no work tree to commit in' };
    const top = realpathSync(await ask(root, '--show-toplevel'));
    if (!isOwnRepository(top)) return { refused: `${join(top, '.git')} leads to a repository that does not know it` };
    const common = realpathSync(resolve(top, await ask(top, '--git-common-dir')));
    const named = resolve(top, await ask(top, '--git-path', 'hooks'));
    const repository = { top, common };
    const problem = findProblem(named, repository);
    if (problem !== undefined) return { refused: problem, repository };
    return { ...repository, folder: isHusky(named) ? dirname(named) : named };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

/** Husky writes these files again at every installation; they run the scripts of the folder above. */
function isHusky(folder: string): boolean {
  return basename(folder) === '_' && existsSync(join(folder, 'h'));
}

/** A folder that others use too, or that a link hides, is not changed. */
export function findProblem(folder: string, { top, common }: Repository): string | undefined {
  // An empty setting leads here too: git finds no hook that it could start.
  if (folder === top) return 'core.hooksPath is empty or names the project itself, so git runs no hooks';
  const place = [top, common].find((candidate) => folder === candidate || folder.startsWith(candidate + sep));
  if (place === undefined) return `core.hooksPath names ${folder}, outside the project`;
  let path = place;
  for (const part of relative(place, folder).split(sep)) {
    path = join(path, part);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    if (stats.isSymbolicLink()) return `${path} is a symbolic link`;
    if (!stats.isDirectory()) return `${path} is not a folder`;
  }
  return undefined;
}
