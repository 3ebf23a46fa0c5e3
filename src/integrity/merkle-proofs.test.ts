import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { naiveLeaf, naivePath, naiveProof, naiveRoot } from '../../test/vectors/naive.ts';
import {
  consistencyRanges,
  foldRange,
  inclusionRanges,
  isConsistent,
  isIncluded,
  type LeafRange,
  perfectSubtrees,
  TreeBuilder,
} from './index.ts';

const MAX_SIZE = 130;
const LEAVES = Array.from({ length: MAX_SIZE }, (_, index) => naiveLeaf(Buffer.from(`entry ${index}`)));
const ROOTS = Array.from({ length: MAX_SIZE + 1 }, (_, size) => naiveRoot(LEAVES.slice(0, size)));

/** What a store would hold: the leaves, and every full subtree that the builder reported. */
const NODES = new Map(LEAVES.map((leaf, index) => [`0/${index}`, leaf]));
const builder = new TreeBuilder();
for (const leaf of LEAVES) builder.add(leaf, (level, index, hash) => NODES.set(`${level}/${index}`, hash));

function hashOf(range: LeafRange): string {
  return foldRange(perfectSubtrees(range).map(({ level, index }) => NODES.get(`${level}/${index}`) ?? ''));
}

const rootAt = (size: number): string => ROOTS[size] ?? '';
const leafAt = (index: number): string => LEAVES[index] ?? '';

describe('proofs', () => {
  promiseTest('integrity/proofs', `the inclusion of every leaf in every tree of up to ${MAX_SIZE}`, () => {
    for (let size = 1; size <= MAX_SIZE; size += 1) {
      const leaves = LEAVES.slice(0, size);
      for (let index = 0; index < size; index += 1) {
        const proof = inclusionRanges(index, size).map(hashOf);
        expect(proof).toEqual(naivePath(index, leaves));
        const isAccepted = isIncluded({ leaf: leafAt(index), index, size, proof, root: rootAt(size) });
        if (!isAccepted) expect.fail(`leaf ${index} of ${size}`);
      }
    }
  });

  promiseTest('integrity/proofs', `the consistency of every pair of sizes up to ${MAX_SIZE}`, () => {
    for (let size = 1; size <= MAX_SIZE; size += 1) {
      const leaves = LEAVES.slice(0, size);
      for (let oldSize = 1; oldSize <= size; oldSize += 1) {
        const proof = consistencyRanges(oldSize, size).map(hashOf);
        expect(proof).toEqual(naiveProof(oldSize, leaves));
        const claim = { oldSize, oldRoot: rootAt(oldSize), size, root: rootAt(size), proof };
        if (!isConsistent(claim)) expect.fail(`${oldSize} before ${size}`);
      }
    }
  });

  promiseTest('integrity/proofs', 'the empty tree is consistent with itself alone', () => {
    const empty = { oldSize: 0, oldRoot: rootAt(0), size: 0, root: rootAt(0), proof: [] };
    expect(isConsistent(empty)).toBe(true);
    expect(isConsistent({ ...empty, size: 1, root: rootAt(1) })).toBe(false);
  });

  promiseTest('integrity/tree', 'the worked example of RFC 6962 section 2.1.3', () => {
    const show = ({ begin, end }: LeafRange) => `${begin}-${end - 1}`;
    expect(inclusionRanges(0, 7).map(show)).toEqual(['1-1', '2-3', '4-6']);
    expect(inclusionRanges(3, 7).map(show)).toEqual(['2-2', '0-1', '4-6']);
    expect(inclusionRanges(4, 7).map(show)).toEqual(['5-5', '6-6', '0-3']);
    expect(inclusionRanges(6, 7).map(show)).toEqual(['4-5', '0-3']);
    expect(consistencyRanges(3, 7).map(show)).toEqual(['2-2', '3-3', '0-1', '4-6']);
    expect(consistencyRanges(4, 7).map(show)).toEqual(['4-6']);
    expect(consistencyRanges(6, 7).map(show)).toEqual(['4-5', '6-6', '0-3']);
  });

  const NO_COUNTS = [-1, 0.5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e300];

  it('refuses a leaf outside the tree', () => {
    for (const wrong of [...NO_COUNTS, 7, 8]) expect(() => inclusionRanges(wrong, 7)).toThrow(RangeError);
    for (const wrong of [...NO_COUNTS, 0]) expect(() => inclusionRanges(0, wrong)).toThrow(RangeError);
  });

  it('refuses an old tree that is larger than the new one', () => {
    for (const wrong of [...NO_COUNTS, 0, 8]) expect(() => consistencyRanges(wrong, 7)).toThrow(RangeError);
    for (const wrong of [...NO_COUNTS, 0, 2]) expect(() => consistencyRanges(3, wrong)).toThrow(RangeError);
  });

  it('refuses leaves that no subtree spans', () => {
    for (const wrong of NO_COUNTS) {
      expect(() => perfectSubtrees({ begin: 0, end: wrong })).toThrow(RangeError);
      expect(() => perfectSubtrees({ begin: wrong, end: 8 })).toThrow(RangeError);
    }
    for (const [begin, end] of [
      [1, 3],
      [2, 6],
      [3, 2],
      [6, 10],
      [2 ** 40 - 1, 2 ** 40 + 1],
    ] as const) {
      expect(() => perfectSubtrees({ begin, end })).toThrow(RangeError);
    }
  });
});
