import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What `git worktree add` leaves, so that tests need no git. */
export function linkWorkTree(repository: string, workTree: string): void {
  const gitFolder = join(repository, 'worktrees', basename(workTree));
  mkdirSync(gitFolder, { recursive: true });
  mkdirSync(workTree, { recursive: true });
  writeFileSync(join(workTree, '.git'), `gitdir: ${gitFolder}\n`);
  writeFileSync(join(gitFolder, 'gitdir'), `${join(workTree, '.git')}\n`);
  writeFileSync(join(gitFolder, 'commondir'), '../..\n');
}

/** Runs the real program; returns false where it is not installed. */
export function git(cwd: string, ...args: readonly string[]): boolean {
  try {
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd, stdio: 'ignore' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
