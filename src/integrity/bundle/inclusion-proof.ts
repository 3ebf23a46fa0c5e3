import { inclusionRanges, isIncluded, leafHash } from '../merkle.ts';
import { verifyCheckpoint } from '../notes/checkpoint.ts';
import type { Digest } from '../sha256.ts';
import { BUNDLE_FORMAT, type BundledEntry, type BundleHead } from './format.ts';
import { type BundleReport, judgeEntries, open, signature, type TrustedKeys } from './verify.ts';

/** That one entry is in the signed log: the same in every envelope. */
export interface InclusionProof {
  readonly entry: BundledEntry;
  /** The hashes from the leaf to the root. */
  readonly path: readonly Digest[];
  /** The signed checkpoint as text. */
  readonly checkpoint: string;
}

/** Throws `BadFormat` as `verifyBundle` does. */
export function judgeProof({ entry, path, checkpoint: note }: InclusionProof, keys: TrustedKeys): BundleReport {
  const checkpoint = verifyCheckpoint(note, keys);
  const { size, root } = checkpoint;
  const { index } = entry;
  const opened = open(entry);
  if (!isIncluded({ leaf: leafHash(entry.entry), index, size, proof: path, root })) {
    const says = `entry ${index} of the signed log is another one`;
    return {
      claims: [signature(checkpoint), { about: 'inclusion', holds: 'no', says }],
      entries: [],
      checkpoint,
      hashes: [],
    };
  }
  const head: BundleHead = {
    format: BUNDLE_FORMAT,
    checkpoint: note,
    scope: { kind: 'entry', index },
    // Whether its maker left content out or another entry redacts it, one entry does not show.
    redacted: false,
    entry_count: 1,
    hash_count: path.length,
  };
  return judgeEntries(head, { entries: [opened], checkpoint, hashes: fromLeftToRight(path, index, size) });
}

/** A path rises from the leaf; a subset proof goes through the tree from left to right. */
function fromLeftToRight(path: readonly Digest[], index: number, size: number): Digest[] {
  return inclusionRanges(index, size)
    .map(({ begin }, place) => ({ begin, hash: path[place] as Digest }))
    .sort((left, right) => left.begin - right.begin)
    .map(({ hash }) => hash);
}
