import { assert, integer, nat, property, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadFormat } from '../bad-format.ts';
import { foldLeaves, inclusionRanges, type LeafRange, leafHash } from '../merkle.ts';
import type { Digest } from '../sha256.ts';
import { subsetRanges, subsetRoot } from './subset-proof.ts';

const leavesOf = (size: number): Digest[] => Array.from({ length: size }, (_, index) => leafHash(`entry ${index}`));

/** The hash of a range that is a subtree, from its leaves. */
const hashOf = (leaves: readonly Digest[], { begin, end }: LeafRange): Digest => foldLeaves(leaves.slice(begin, end));

const chosen = integer({ min: 1, max: 70 }).chain((size) =>
  uniqueArray(nat(size - 1), { maxLength: size }).map((indexes) => ({ size, indexes: indexes.sort((a, b) => a - b) })),
);

describe('the proof of a subset', () => {
  it('gives the root of the whole tree, for every subset', () => {
    assert(
      property(chosen, ({ size, indexes }) => {
        const leaves = leavesOf(size);
        const hashes = subsetRanges(indexes, size).map((range) => hashOf(leaves, range));
        const picked = indexes.map((index) => leaves[index] as Digest);
        expect(subsetRoot({ indexes, leaves: picked, size }, hashes)).toBe(foldLeaves(leaves));
      }),
      { numRuns: 200 },
    );
  });

  it('has the hashes of an inclusion proof for one leaf', () => {
    const fromLeft = (ranges: readonly LeafRange[]) => [...ranges].sort((left, right) => left.begin - right.begin);
    for (let index = 0; index < 13; index += 1)
      expect(subsetRanges([index], 13)).toEqual(fromLeft(inclusionRanges(index, 13)));
  });

  it('does not give that root for another leaf, place, size or hash', () => {
    assert(
      property(chosen, nat(1000), ({ size, indexes }, seed) => {
        const leaves = leavesOf(size);
        const root = foldLeaves(leaves);
        const picked = indexes.map((index) => leaves[index] as Digest);
        const hashes = subsetRanges(indexes, size).map((range) => hashOf(leaves, range));
        const forged = [...picked];
        if (forged.length > 0) {
          forged[seed % forged.length] = leafHash('forged');
          expect(subsetRoot({ indexes, leaves: forged, size }, hashes)).not.toBe(root);
        }
        const replaced = [...hashes];
        if (replaced.length > 0) {
          replaced[seed % replaced.length] = leafHash('forged');
          expect(subsetRoot({ indexes, leaves: picked, size }, replaced)).not.toBe(root);
        }
        expect(() => subsetRoot({ indexes, leaves: picked, size }, [...hashes, root])).toThrow(BadFormat);
        if (hashes.length > 0)
          expect(() => subsetRoot({ indexes, leaves: picked, size }, hashes.slice(1))).toThrow(BadFormat);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['a place twice', [1, 1], 4],
    ['falling places', [2, 1], 4],
    ['a place beyond the end', [4], 4],
    ['a negative place', [-1], 4],
    ['half a place', [0.5], 4],
    ['no tree', [], 0],
    ['an endless tree', [], Number.POSITIVE_INFINITY],
  ])('refuses %s', (_, indexes, size) => {
    expect(() => subsetRanges(indexes, size)).toThrow(BadFormat);
  });

  it('refuses a hash that is not one', () => {
    expect(() => subsetRoot({ indexes: [0], leaves: leavesOf(1), size: 2 }, ['AB'.repeat(32)])).toThrow(BadFormat);
  });
});
