import { BadFormat } from '../bad-format.ts';
import { isDigest, type LeafRange, nodeHash, splitPoint } from '../merkle.ts';
import type { Digest } from '../sha256.ts';

/**
 * One proof for many leaves of a tree: the hashes of the largest subtrees without any of them, from left to right.
 * There is exactly one such proof for a set of leaves, so a proof with a hash more or less is not one.
 */

/** The ranges of leaves whose hashes prove these leaves. `indexes` rise. */
export function subsetRanges(indexes: readonly number[], size: number): LeafRange[] {
  const ranges: LeafRange[] = [];
  walk(indexes, size, {
    leaf: () => undefined,
    gap: (range) => ranges.push(range),
    join: () => undefined,
  });
  return ranges;
}

/** The root of the tree that has these leaves at these places. Throws if the hashes do not fit the places. */
export function subsetRoot(
  { indexes, leaves, size }: { indexes: readonly number[]; leaves: readonly Digest[]; size: number },
  hashes: readonly Digest[],
): Digest {
  if (!hashes.every(isDigest)) throw new BadFormat('the proof contains an invalid hash');
  let used = 0;
  const root = walk<Digest>(indexes, size, {
    leaf: (place) => leaves[place] as Digest,
    gap: () => {
      const hash = hashes[used];
      if (hash === undefined) throw new BadFormat('the proof has too few hashes');
      used += 1;
      return hash;
    },
    join: nodeHash,
  });
  if (used !== hashes.length) throw new BadFormat('the proof has too many hashes');
  return root;
}

interface Visitor<Node> {
  /** The leaf at this place of the list. */
  leaf(place: number): Node;
  gap(range: LeafRange): Node;
  join(left: Node, right: Node): Node;
}

function walk<Node>(indexes: readonly number[], size: number, visitor: Visitor<Node>): Node {
  assertPlaces(indexes, size);
  let place = 0;
  const visit = (begin: number, end: number): Node => {
    const next = indexes[place] ?? size;
    if (next >= end) return visitor.gap({ begin, end });
    if (end - begin === 1) {
      place += 1;
      return visitor.leaf(place - 1);
    }
    const middle = begin + splitPoint(end - begin);
    const left = visit(begin, middle);
    return visitor.join(left, visit(middle, end));
  };
  return visit(0, size);
}

function assertPlaces(indexes: readonly number[], size: number): void {
  if (!Number.isSafeInteger(size) || size < 1) throw new BadFormat('a tree has at least one leaf');
  let last = -1;
  for (const index of indexes) {
    if (!Number.isSafeInteger(index) || index <= last || index >= size)
      throw new BadFormat('the entries are not in rising order, or lie beyond the end of the log');
    last = index;
  }
}
