import { createGitEnvironment, type HookConfig } from '../../config.ts';
import { type Commit, readCommits } from '../../git/read-commits.ts';
import { runGit } from '../../git/run-git.ts';
import { createSalt } from '../../ledger/salt.ts';
import { writeToSpool } from '../spool.ts';
import { shortBranch, writeCommitContent } from './commit-content.ts';
import { encodeCommits, MAX_COMMITS, MAX_TASKS, type SpooledCommit } from './spooled-commits.ts';

/** The hooks of git that report commits. */
export const REPORTING_HOOKS = ['post-commit', 'post-merge', 'post-applypatch', 'post-rewrite'] as const;
type ReportingHook = (typeof REPORTING_HOOKS)[number];

interface Report {
  readonly hook: ReportingHook;
  /** What git passed on standard input: for post-rewrite, the old and the new hash of each commit. */
  readonly input: string;
  readonly spool: string;
  readonly folder: string;
  readonly config: Pick<HookConfig, 'level' | 'isDurable'>;
}

/** A file of the spool may hold 256 KiB. */
const MAX_CHUNK_LENGTH = 100_000;

/** Stores the commits that git just made. What was read is stored even if the rest takes too long. */
export async function recordCommits({ hook, input, spool, folder, config }: Report): Promise<void> {
  const env = createGitEnvironment();
  const branch = findBranch(env);
  const rewrites = hook === 'post-rewrite' ? parseRewrites(input) : undefined;
  if (rewrites?.size === 0) return;
  const at = new Date();
  let chunk: SpooledCommit[] = [];
  let length = 0;
  const flush = () => {
    if (chunk.length === 0) return;
    const text = encodeCommits({ v: 1, at: at.toISOString(), folder, commits: chunk });
    writeToSpool(spool, text, { at, isDurable: config.isDurable });
    [chunk, length] = [[], 0];
  };
  for await (const commit of readCommits(rewrites === undefined ? 'HEAD' : [...rewrites.keys()], { env })) {
    for (const spooled of toSpooled(commit, await branch, rewrites?.get(commit.sha) ?? [], config.level)) {
      chunk.push(spooled);
      length += spooled.content.length + FIXED_LENGTH;
      if (length > MAX_CHUNK_LENGTH || chunk.length === MAX_COMMITS) flush();
    }
  }
  flush();
}

/** Hashes, salt and names of one commit. */
const FIXED_LENGTH = 4000;

/** Undefined for a detached HEAD. */
async function findBranch(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    return shortBranch(await runGit(['symbolic-ref', '--quiet', 'HEAD'], { env }));
  } catch {
    return undefined;
  }
}

/** From each new commit to the old ones that it replaces; a squash replaces several. */
function parseRewrites(input: string): Map<string, string[]> {
  const rewrites = new Map<string, string[]>();
  for (const line of input.split('\n')) {
    const [, old = '', made = ''] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64})(?: |$)/.exec(line) ?? [];
    if (made !== '' && made !== old) rewrites.set(made, [...(rewrites.get(made) ?? []), old]);
  }
  return rewrites;
}

/** The commit itself, then one report for each commit that it rewrites. */
function toSpooled(
  { sha, tree, parents, trailers, paths, hasMorePaths }: Commit,
  branch: string | undefined,
  rewrites: readonly string[],
  level: HookConfig['level'],
): SpooledCommit[] {
  const common = {
    sha,
    tree,
    parents,
    tasks: [...new Set(trailers.task)].slice(0, MAX_TASKS),
    is_decided: trailers.checkpoint.length > 0,
  };
  const whole = writeCommitContent({ branch, paths, hasMorePaths }, level);
  // The paths are in the report of the commit.
  const short = writeCommitContent({ branch, paths: [], hasMorePaths: hasMorePaths || paths.length > 0 }, level);
  return [
    { ...common, rewrites: null, salt: createSalt(), content: whole },
    ...rewrites.map((old) => ({ ...common, rewrites: old, salt: createSalt(), content: short })),
  ];
}
