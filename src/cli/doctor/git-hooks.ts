import { readGitHooks } from '../init/git/plan-git-hooks.ts';
import { localCommand, publishedCommand } from '../init/launch-command.ts';
import { findProjectRoot } from '../init/project-root.ts';
import { type Finding, ok, warn } from './finding.ts';

const CHECK = 'recorder';
const FIX = 'run colibri init --record';

/** Whether the hooks that record commits are still there: other tools write hooks again. Runs none of them. */
export async function checkGitHooks(): Promise<Finding[]> {
  const hooks = await readGitHooks(findProjectRoot());
  if (hooks === undefined) return [];
  const { launcher, launches, recording, missing } = hooks;
  const isOwn = [localCommand(), publishedCommand()].some(launches);
  if (!isOwn) return [warn(CHECK, `${launcher} starts a different program`, FIX)];
  if (missing.length > 0) return [warn(CHECK, `git: commits are not recorded by ${missing.join(', ')}`, FIX)];
  return [ok(CHECK, `git: commits are recorded by ${recording.join(', ')}`)];
}
