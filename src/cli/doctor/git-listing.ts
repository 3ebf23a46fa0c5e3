import { basename, dirname } from 'node:path';
import { createGitEnvironment } from '../../config.ts';
import { runGit } from '../../git/run-git.ts';
import { type Finding, warn } from './finding.ts';

const TIMEOUT_MS = 10_000;

/** Warns if `git add --all` would add the ledger, which holds what agents wrote. */
export async function checkGitListing(path: string): Promise<Finding[]> {
  const [folder, name] = [dirname(path), basename(path)];
  const options = { env: createGitEnvironment(), cwd: folder, timeoutMs: TIMEOUT_MS };
  try {
    const listed = await runGit(['ls-files', '--others', '--exclude-standard', '--', name], options);
    if (listed === '') return [];
  } catch {
    // Git is missing, or the folder is in no repository.
    return [];
  }
  return [warn('git', `git does not ignore ${path}`, `add /${name}* and /spool/ to ${folder}/.gitignore`)];
}
