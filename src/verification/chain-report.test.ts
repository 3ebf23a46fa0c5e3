import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { type ChainVector, createChainVectors } from '../../test/vectors/trail-vectors.ts';
import { parseEntry } from '../integrity/index.ts';
import { checkThought, integrityScore } from './chain-report.ts';

const FILE = new URL('../../test/vectors/trail/thought-chains.json', import.meta.url);
const vectors = JSON.parse(readFileSync(FILE, 'utf8')) as ChainVector[];

describe('the published chains', () => {
  for (const { name, broken, thoughts } of vectors)
    promiseTest('trail/vectors', name, () => {
      const found = thoughts.flatMap(({ row, entry }, index) =>
        checkThought({ row, previous: thoughts[index - 1]?.row, entry: parseEntry(entry), redaction: undefined }),
      );
      expect(found.map(({ layer }) => layer)).toEqual(broken);
    });

  it('matches the chains of the second implementation in test/vectors; most are wrong on purpose', () => {
    expect(vectors).toEqual(createChainVectors());
    expect(vectors.filter(({ broken }) => broken.length === 0).length).toBeLessThan(vectors.length / 10);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });
});

describe('the score', () => {
  it.each([
    [0, 0, 100],
    [10, 0, 100],
    [1000, 1, 99],
    [100_000, 1, 99],
    [10, 5, 50],
    [3, 1, 66],
    [3, 3, 0],
    [0, 1, 0],
    [1, 2, 0],
  ])('of %i records with %i defective is %i', (total, defective, score) => {
    expect(integrityScore(total, defective)).toBe(score);
  });
});
