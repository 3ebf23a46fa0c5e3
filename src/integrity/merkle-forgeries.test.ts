import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { always } from '../../test/support/properties.ts';
import {
  flipBit,
  forgeConsistency,
  forgeInclusion,
  honestConsistency,
  honestInclusion,
} from '../../test/vectors/forgeries.ts';
import { naiveIsConsistent, naiveLeaf, naiveRoot, naiveRootFromPath } from '../../test/vectors/naive.ts';
import { type ConsistencyCheck, type InclusionCheck, isConsistent, isIncluded } from './index.ts';

const LEAVES = Array.from({ length: 40 }, (_, index) => naiveLeaf(Buffer.from(`entry ${index}`)));
const MAX_SIZE = 17;

/** Numbers that JSON cannot carry and a program can. */
const NOT_NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined, 3n, Symbol.iterator];

describe('forged inclusion', () => {
  promiseTest('integrity/forgeries', `every defect in every place of every tree of up to ${MAX_SIZE}`, () => {
    const accepted: string[] = [];
    for (let size = 1; size <= MAX_SIZE; size += 1) {
      for (let index = 0; index < size; index += 1) {
        for (const { name, claim } of forgeInclusion(LEAVES.slice(0, size), index)) {
          if (isIncluded(claim as InclusionCheck)) accepted.push(`leaf ${index} of ${size}, ${name}`);
        }
      }
    }
    expect(accepted).toEqual([]);
  });

  promiseTest('integrity/forgeries', 'every bit of an inclusion proof, its leaf and its root counts', () => {
    const honest = honestInclusion(LEAVES.slice(0, 13), 9);
    expect(isIncluded(honest)).toBe(true);
    for (let bit = 0; bit < 256; bit += 1) {
      expect(isIncluded({ ...honest, leaf: flipBit(honest.leaf, bit) })).toBe(false);
      expect(isIncluded({ ...honest, root: flipBit(honest.root, bit) })).toBe(false);
      for (const [place, hash] of honest.proof.entries()) {
        expect(isIncluded({ ...honest, proof: honest.proof.with(place, flipBit(hash, bit)) })).toBe(false);
      }
    }
  });

  promiseTest('integrity/forgeries', 'an index, a size or a hash that is no such thing', () => {
    const honest = honestInclusion(LEAVES.slice(0, 7), 3);
    for (const wrong of NOT_NUMBERS) {
      expect(isIncluded({ ...honest, index: wrong as number })).toBe(false);
      expect(isIncluded({ ...honest, size: wrong as number })).toBe(false);
      expect(isIncluded({ ...honest, proof: honest.proof.with(1, wrong as unknown as string) })).toBe(false);
      expect(isIncluded({ ...honest, proof: wrong as unknown as string[] })).toBe(false);
    }
    const holes: string[] = [];
    holes[2] = honest.proof[2] ?? '';
    expect(isIncluded({ ...honest, proof: holes })).toBe(false);
  });

  promiseTest(
    'integrity/forgeries',
    'an inclusion proof moved to another place, with the root of the tree there',
    () => {
      for (let size = 1; size <= MAX_SIZE; size += 1) {
        for (let index = 0; index < size; index += 1) {
          const { leaf, proof } = honestInclusion(LEAVES.slice(0, size), index);
          for (let other = 1; other <= MAX_SIZE; other += 1) {
            const root = naiveRoot(LEAVES.slice(0, other));
            for (let place = 0; place < other; place += 1) {
              const isHonest = place === index && other === size;
              expect(isIncluded({ leaf, index: place, size: other, proof, root })).toBe(isHonest);
            }
          }
        }
      }
    },
  );

  promiseTest('integrity/forgeries', 'random paths and sizes get the verdict of the reference', () => {
    const claims = fc.record({
      leaf: fc.constantFrom(...LEAVES.slice(0, 3)),
      index: fc.nat(12),
      size: fc.nat(12),
      proof: fc.array(fc.constantFrom(...LEAVES.slice(0, 3)), { maxLength: 4 }),
    });
    always(
      fc.property(claims, ({ leaf, index, size, proof }) => {
        const root = index < size ? naiveRootFromPath(index, size, leaf, proof) : undefined;
        expect(isIncluded({ leaf, index, size, proof, root: root ?? naiveRoot(LEAVES) })).toBe(root !== undefined);
      }),
      5_000,
    );
  });
});

describe('forged consistency', () => {
  promiseTest('integrity/forgeries', `every defect in the proof of every pair of sizes up to ${MAX_SIZE}`, () => {
    const accepted: string[] = [];
    for (let size = 1; size <= MAX_SIZE; size += 1) {
      for (let oldSize = 1; oldSize <= size; oldSize += 1) {
        for (const { name, claim } of forgeConsistency(LEAVES.slice(0, size), oldSize)) {
          if (isConsistent(claim as ConsistencyCheck)) accepted.push(`${oldSize} before ${size}, ${name}`);
        }
      }
    }
    expect(accepted).toEqual([]);
  });

  promiseTest('integrity/forgeries', 'every bit of a consistency proof and its roots counts', () => {
    for (const oldSize of [6, 8]) {
      const honest = honestConsistency(LEAVES.slice(0, 13), oldSize);
      expect(isConsistent(honest)).toBe(true);
      for (let bit = 0; bit < 256; bit += 1) {
        expect(isConsistent({ ...honest, oldRoot: flipBit(honest.oldRoot, bit) })).toBe(false);
        expect(isConsistent({ ...honest, root: flipBit(honest.root, bit) })).toBe(false);
        for (const [place, hash] of honest.proof.entries()) {
          expect(isConsistent({ ...honest, proof: honest.proof.with(place, flipBit(hash, bit)) })).toBe(false);
        }
      }
    }
  });

  promiseTest('integrity/forgeries', 'a size that is no such thing', () => {
    const honest = honestConsistency(LEAVES.slice(0, 7), 3);
    for (const wrong of NOT_NUMBERS) {
      expect(isConsistent({ ...honest, oldSize: wrong as number })).toBe(false);
      expect(isConsistent({ ...honest, size: wrong as number })).toBe(false);
      expect(isConsistent({ ...honest, proof: wrong as unknown as string[] })).toBe(false);
    }
    expect(isConsistent({ ...honest, oldSize: Number.NaN, size: Number.NaN })).toBe(false);
  });

  promiseTest(
    'integrity/forgeries',
    'a consistency proof moved to other sizes, with the roots of the trees there',
    () => {
      for (let size = 1; size <= MAX_SIZE; size += 1) {
        for (let oldSize = 1; oldSize < size; oldSize += 1) {
          const { proof } = honestConsistency(LEAVES.slice(0, size), oldSize);
          for (let other = 1; other <= MAX_SIZE; other += 1) {
            const root = naiveRoot(LEAVES.slice(0, other));
            for (let otherOld = 0; otherOld <= other; otherOld += 1) {
              const oldRoot = naiveRoot(LEAVES.slice(0, otherOld));
              const isHonest = otherOld === oldSize && other === size;
              expect(isConsistent({ oldSize: otherOld, oldRoot, size: other, root, proof })).toBe(isHonest);
            }
          }
        }
      }
    },
  );

  promiseTest('integrity/forgeries', 'honest proofs claimed for other sizes get the verdict of the reference', () => {
    for (let size = 2; size <= 40; size += 1) {
      for (let oldSize = 1; oldSize < size; oldSize += 1) {
        const { proof, oldRoot, root } = honestConsistency(LEAVES.slice(0, size), oldSize);
        for (const other of [size - 1, size + 1, size + 2]) {
          if (other <= oldSize) continue;
          const expected = naiveIsConsistent(oldSize, other, { old: oldRoot, new: root }, proof);
          expect(isConsistent({ oldSize, oldRoot, size: other, root, proof })).toBe(expected);
        }
      }
    }
  });
});
