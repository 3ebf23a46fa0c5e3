import type { Reader } from '../../db/database.ts';
import { CommitObjects, type FoundCommit } from '../../git/commit-objects.ts';
import type { GitOptions } from '../../git/run-git.ts';
import { FindingList, type GitFinding } from './findings.ts';
import { listRecordedCommits, type RecordedCommit } from './recorded-commits.ts';

export interface CommitCheck {
  readonly recorded: number;
  readonly present: number;
  /** Not in the repository, but a later entry says which commit replaced it. */
  readonly rewritten: number;
  readonly missing: number;
  readonly contradicted: number;
  readonly claims: readonly GitFinding[];
}

/** More are counted as missing without a search for the commits that replaced them. */
const MAX_REMEMBERED = 100_000;

/** Compares each recorded commit with the repository. Memory grows with the missing ones alone. */
export async function checkCommits(reader: Reader, git: GitOptions): Promise<CommitCheck> {
  const findings = new FindingList();
  const missing = new Map<string, number>();
  let [recorded, present, forgotten] = [0, 0, 0];
  const objects = new CommitObjects(git);
  try {
    for await (const page of listRecordedCommits(reader)) {
      const commits = page.filter(({ rewrites }) => rewrites === undefined);
      const found = await objects.find(commits.map(({ sha }) => sha));
      recorded += commits.length;
      for (const [place, commit] of commits.entries()) {
        const state = found[place] ?? 'missing';
        const problem = state === 'missing' ? undefined : differenceOf(commit, state);
        if (problem !== undefined) findings.add({ state: 'contradicted', ...placeOf(commit), problem });
        else if (state !== 'missing') present += 1;
        else if (missing.size < MAX_REMEMBERED) missing.set(commit.sha, commit.index);
        else forgotten += 1;
      }
    }
  } finally {
    await objects.close();
  }
  const contradicted = findings.count;
  const rewritten = missing.size === 0 ? 0 : await removeRewritten(reader, missing);
  const problem = 'is not in this repository';
  for (const [sha, entry] of missing) findings.add({ state: 'missing', sha, entry, problem });
  return { recorded, present, rewritten, missing: missing.size + forgotten, contradicted, claims: findings.list() };
}

function differenceOf({ tree, parents }: RecordedCommit, found: Exclude<FoundCommit, 'missing'>): string | undefined {
  if (found === 'other') return 'is not a readable commit of this repository';
  if (found.tree !== tree) return `has another tree in this repository: ${found.tree}`;
  const isSame = found.parents.length === parents.length && found.parents.every((sha, at) => sha === parents[at]);
  return isSame ? undefined : `has other parents in this repository: ${found.parents.join(' ') || 'none'}`;
}

function placeOf({ sha, index }: RecordedCommit): Pick<GitFinding, 'sha' | 'entry'> {
  return { sha, entry: index };
}

/** Removes the commits that a recorded one replaced; returns how many. */
async function removeRewritten(reader: Reader, missing: Map<string, number>): Promise<number> {
  let removed = 0;
  for await (const page of listRecordedCommits(reader))
    for (const { rewrites } of page) if (rewrites !== undefined && missing.delete(rewrites)) removed += 1;
  return removed;
}
