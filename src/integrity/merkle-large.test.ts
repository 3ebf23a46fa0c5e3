import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { always } from '../../test/support/properties.ts';
import { naiveIsConsistent, naiveLeaf, naiveNode, naiveRootFromPath } from '../../test/vectors/naive.ts';
import {
  consistencyRanges,
  foldRange,
  inclusionRanges,
  isConsistent,
  isIncluded,
  type LeafRange,
  perfectSubtrees,
} from './index.ts';

/** A log whose entries are all alike has one hash for each level, so that its trees are known at any size. */
const LEAF = naiveLeaf(Buffer.from('{}'));
const FULL: string[] = [LEAF];
for (let level = 1; level <= 53; level += 1) FULL.push(naiveNode(FULL.at(-1) ?? '', FULL.at(-1) ?? ''));

function hashOf(range: LeafRange): string {
  return foldRange(perfectSubtrees(range).map(({ level }) => FULL[level] ?? ''));
}

const rootAt = (size: number): string => hashOf({ begin: 0, end: size });

/** Around every power of two, where rounding would show; and the last size of all. */
const EDGES = Array.from({ length: 53 }, (_, power) => 2 ** power)
  .flatMap((power) => [power - 1, power, power + 1])
  .filter((size) => size >= 1);
const sizes = fc.oneof(
  fc.constantFrom(...EDGES, Number.MAX_SAFE_INTEGER),
  fc.maxSafeNat().filter((size) => size > 0),
);
const pairs = fc.tuple(sizes, sizes).map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const);

describe('a very long log', () => {
  promiseTest('integrity/large-logs', 'the full subtrees are the binary digits of the size', () => {
    for (const size of [...EDGES, Number.MAX_SAFE_INTEGER]) {
      const expected: { level: number; index: number }[] = [];
      let start = 0n;
      for (let level = 53n; level >= 0n; level -= 1n) {
        if (((BigInt(size) >> level) & 1n) === 0n) continue;
        expected.push({ level: Number(level), index: Number(start >> level) });
        start += 1n << level;
      }
      expect(perfectSubtrees({ begin: 0, end: size })).toEqual(expected);
    }
  });

  promiseTest('integrity/large-logs', 'a path covers all other leaves, nearest first', () => {
    always(
      fc.property(pairs, ([below, size]) => {
        const index = below === size ? size - 1 : below;
        let covered = { begin: index, end: index + 1 };
        for (const { begin, end } of inclusionRanges(index, size)) {
          const isLeft = end === covered.begin;
          expect(isLeft || begin === covered.end).toBe(true);
          covered = isLeft ? { begin, end: covered.end } : { begin: covered.begin, end };
        }
        expect(covered).toEqual({ begin: 0, end: size });
      }),
    );
  });

  promiseTest('integrity/large-logs', 'inclusion is proved, and refused for a longer path', () => {
    always(
      fc.property(pairs, ([below, size]) => {
        const index = below === size ? size - 1 : below;
        const proof = inclusionRanges(index, size).map(hashOf);
        const claim = { leaf: LEAF, index, size, proof, root: rootAt(size) };
        expect(naiveRootFromPath(index, size, LEAF, proof)).toBe(claim.root);
        expect(isIncluded(claim)).toBe(true);
        expect(isIncluded({ ...claim, proof: [...proof, LEAF] })).toBe(false);
        expect(isIncluded({ ...claim, leaf: rootAt(3) })).toBe(false);
      }),
    );
  });

  promiseTest('integrity/large-logs', 'consistency is proved, and refused for another old root', () => {
    always(
      fc.property(pairs, ([oldSize, size]) => {
        const proof = consistencyRanges(oldSize, size).map(hashOf);
        const roots = { old: rootAt(oldSize), new: rootAt(size) };
        const claim = { oldSize, oldRoot: roots.old, size, root: roots.new, proof };
        expect(naiveIsConsistent(oldSize, size, roots, proof)).toBe(true);
        expect(isConsistent(claim)).toBe(true);
        expect(isConsistent({ ...claim, oldRoot: naiveNode(LEAF, roots.old) })).toBe(false);
        expect(isConsistent({ ...claim, proof: [...proof, LEAF] })).toBe(false);
      }),
    );
  });
});
