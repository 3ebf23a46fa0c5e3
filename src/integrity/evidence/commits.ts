import type { KnownCommit } from './compare.ts';
import type { ObservedFields } from './observation.ts';

/** Finds a commit that a thought names among those that git reported. Pure. */

export interface RecordedCommit {
  readonly entry: number;
  readonly at: string;
  readonly sha: string;
  /** Its parents, and the commit that it replaced. */
  readonly names: readonly string[];
}

export function toCommit(entry: number, { kind, at, sha, parents = [], rewrites }: ObservedFields): RecordedCommit[] {
  if (kind !== 'observed.commit' || sha === undefined) return [];
  const names = [...parents, ...(rewrites === undefined ? [] : [rewrites])].map((name) => name.toLowerCase());
  return [{ entry, at, sha: sha.toLowerCase(), names }];
}

/** A thought may abbreviate the hash, as git does. */
export function findBySha(commits: readonly RecordedCommit[], sha: string): RecordedCommit | undefined {
  const start = sha.toLowerCase();
  return commits.find((commit) => commit.sha.startsWith(start));
}

/** What the commits of the log tell about a hash. `isThere` asks the repository, where there is one. */
export function createCommitFinder(
  commits: readonly RecordedCommit[],
  isThere: (sha: string) => boolean | undefined,
): (sha: string) => KnownCommit {
  const recordedSince = commits.map(({ at }) => at).toSorted()[0];
  return (value) => {
    const sha = value.toLowerCase();
    const entry = findBySha(commits, sha)?.entry;
    return {
      entry,
      isNamed: commits.some(({ names }) => names.some((name) => name.startsWith(sha))),
      recordedSince,
      isThere: entry === undefined ? isThere(sha) : undefined,
    };
  };
}
