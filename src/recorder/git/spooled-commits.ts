import { canonicalize } from '../../integrity/canonical-json.ts';
import type { Salt } from '../../integrity/entry.ts';

/** What a hook of git reports: the commits of one run, in one file. */
export interface SpooledCommits {
  readonly v: 1;
  readonly at: string;
  /** The work tree in which the commits were made. */
  readonly folder: string;
  readonly commits: readonly SpooledCommit[];
}

export interface SpooledCommit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly rewrites: string | null;
  /** The tasks that the trailers name. */
  readonly tasks: readonly string[];
  /** True if the hook that writes trailers saw the ledger: a commit without a task then belongs to none. */
  readonly is_decided: boolean;
  readonly salt: Salt;
  /** Canonical JSON of the branch and the paths. */
  readonly content: string;
}

/** Maximum number of commits in one spool file. */
export const MAX_COMMITS = 1000;
export const MAX_TASKS = 16;

export function encodeCommits(commits: SpooledCommits): string {
  return canonicalize(commits);
}
