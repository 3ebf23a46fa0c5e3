import type { Reader } from '../../db/database.ts';
import { listCheckpointTrailers } from '../../git/list-trailers.ts';
import { type Commit, shortLedgerId } from '../../git/read-commits.ts';
import type { GitOptions } from '../../git/run-git.ts';
import { StoredTree } from '../../ledger/stored-tree.ts';
import { FindingList, type GitFinding } from './findings.ts';
import { findRecordedCommit } from './recorded-commits.ts';

export interface CheckpointCheck {
  /** Checkpoints that name this ledger, or none. */
  readonly found: number;
  readonly extended: number;
  readonly contradicted: number;
  readonly unreadable: number;
  /** Checkpoints of other ledgers, such as those of colleagues. */
  readonly foreign: number;
  readonly claims: readonly GitFinding[];
}

interface Ledger {
  readonly ledgerId: string;
  readonly size: number;
}

/** The tree caches what it has read; a new tree after this many checkpoints bounds the memory. */
const CHECKPOINTS_PER_TREE = 1000;

/**
 * Compares the checkpoints that commits carry with the log, whose stored nodes the caller has verified. The tips must
 * be older than what the reader sees: a later commit can carry a checkpoint beyond its end.
 */
export async function checkCheckpoints(
  reader: Reader,
  { ledgerId, size }: Ledger,
  tips: readonly string[],
  git: GitOptions,
): Promise<CheckpointCheck> {
  const findings = new FindingList();
  const counts = { found: 0, extended: 0, contradicted: 0, unreadable: 0, foreign: 0 };
  let tree = new StoredTree(reader, size);
  for await (const { sha, trailers } of listCheckpointTrailers(tips, git)) {
    for (const checkpoint of listOwn(trailers, shortLedgerId(ledgerId))) {
      if (checkpoint === undefined) {
        counts.foreign += 1;
        continue;
      }
      counts.found += 1;
      if (counts.found % CHECKPOINTS_PER_TREE === 0) tree = new StoredTree(reader, size);
      const state = await compare(tree, size, checkpoint);
      if (state === 'extended') counts.extended += 1;
      else if (state === undefined) {
        counts.unreadable += 1;
        findings.add({ state: 'unreadable', sha, problem: 'has a Colibri-Checkpoint that is not SIZE:ROOT' });
      } else {
        counts.contradicted += 1;
        const entry = await findRecordedCommit(reader, sha);
        findings.add({ state: 'contradicted', sha, entry, problem: `${state}; ${explain(entry)}` });
      }
    }
  }
  return { ...counts, claims: findings.list() };
}

/** The checkpoints of a commit; undefined for one of another ledger. One that names no ledger counts as of this one. */
function listOwn({ checkpoint, ledger }: Commit['trailers'], ownId: string): (string | undefined)[] {
  const nameOf = (place: number) => (ledger.length === checkpoint.length ? ledger[place] : ledger[0]);
  const isAmbiguous = ledger.length > 1 && ledger.length !== checkpoint.length;
  return checkpoint.map((value, place) => {
    const name = isAmbiguous ? undefined : nameOf(place);
    return name === undefined || name === ownId ? value : undefined;
  });
}

/** Undefined if the text is not a checkpoint; else `extended` or what is wrong. */
async function compare(tree: StoredTree, size: number, text: string): Promise<string | undefined> {
  const [, digits, root] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (digits === undefined || root === undefined) return undefined;
  const claimed = Number(digits);
  if (claimed > size) return `has a checkpoint of ${claimed} entries, but the log has ${size}`;
  const isEqual = (await tree.rootOfFirst(claimed)) === root.toLowerCase();
  return isEqual ? 'extended' : `has a checkpoint with another root of the first ${claimed} entries`;
}

function explain(entry: number | undefined): string {
  const recorded = entry === undefined ? '' : `; entry ${entry} records this commit`;
  return `the log was cut or rewritten, or the trailer is forged${recorded}`;
}
