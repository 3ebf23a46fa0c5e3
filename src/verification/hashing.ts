import { type DeferredDigests, match } from './fast/deferred-digest.ts';
import { type EntryBytes, type GrownTree, LogTree, type TreeNode } from './log-tree.ts';

/** `pending`: a worker compares later; its `isRefuted` then answers for all comparisons at once. */
export type Verdict = 'equal' | 'different' | 'pending';

/** Computes the tree over the log and compares digests, on this thread or on a worker. */
export interface Hasher {
  /** Set permanently when a pending comparison failed, the worker failed, or the caller refuted the pass. */
  readonly isRefuted: boolean;
  /** Marks a pass with pending verdicts as worthless. No effect where every verdict was immediate. */
  refute(): void;
  /** Takes ownership of the bytes. */
  compare(deferred: DeferredDigests): Verdict;
  /** Appends entries of the log and takes ownership of their bytes. Resolves when the backlog is short enough. */
  add(entries: EntryBytes): Promise<void>;
  /** The nodes completed since the last call, in order. A worker's nodes arrive late. */
  takeNodes(): readonly TreeNode[];
  /** Backpressure for callers that add no entries. */
  drain(): Promise<void>;
  /** Waits for all pending verdicts. Returns undefined if the pass is refuted. */
  finish(): Promise<GrownTree | undefined>;
  /** Idempotent. */
  stop(): void;
}

export interface HashJob {
  /** Estimated number of hashes. */
  readonly hashes: number;
  /** Number of entries in the log whose tree is computed. */
  readonly size: number;
}

export type Progress = (done: number, total: number) => void;

export interface Pass {
  readonly hasher: Hasher;
  readonly progress: Progress;
}

/**
 * Runs a verification with a worker if `start` provides one. A refuted pass reports nothing: the verification runs
 * again on this thread, where every verdict is immediate and problems are found in log order.
 */
export async function verifyInPasses<Result>(
  job: HashJob,
  start: (job: HashJob) => Hasher | undefined,
  progress: Progress,
  verify: (pass: Pass) => Promise<Result>,
): Promise<Result> {
  const hasher = start(job);
  let reached = 0;
  if (hasher !== undefined) {
    const track: Progress = (done, total) => {
      reached = done;
      progress(done, total);
    };
    try {
      const result = await verify({ hasher, progress: track });
      if (!hasher.isRefuted) return result;
    } finally {
      hasher.stop();
    }
  }
  // Progress only rises: the refuted pass counts as done, and the total grows.
  return verify({
    hasher: hashHere(job),
    progress: (done, total) => progress(reached + done, reached + total),
  });
}

export function hashHere({ size }: HashJob): Hasher {
  const tree = new LogTree(size);
  const nodes: TreeNode[] = [];
  return {
    isRefuted: false,
    refute: () => undefined,
    compare: (deferred) => (match(deferred) ? 'equal' : 'different'),
    add: async (entries) => {
      nodes.push(...tree.add(entries));
    },
    takeNodes: () => nodes.splice(0),
    drain: () => Promise.resolve(),
    finish: async () => tree.finish(),
    stop: () => undefined,
  };
}
