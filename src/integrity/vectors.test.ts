import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import {
  createVectorFiles,
  readCanonicalVectors,
  readConsistencyVectors,
  readInclusionVectors,
} from '../../test/vectors/vectors.ts';
import { canonicalize, isConsistent, isIncluded } from './index.ts';

describe('the published vectors', () => {
  promiseTest('integrity/vectors', 'inclusion', () => {
    const wrong = readInclusionVectors().filter((vector) => isIncluded(vector) !== vector.accepted);
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  promiseTest('integrity/vectors', 'consistency', () => {
    const wrong = readConsistencyVectors().filter((vector) => isConsistent(vector) !== vector.accepted);
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  for (const { name, text, canonical } of readCanonicalVectors()) {
    promiseTest('integrity/vectors', `canonical JSON of ${name}`, () => {
      if (canonical === null) expect(() => canonicalize(JSON.parse(text))).toThrow();
      else expect(canonicalize(JSON.parse(text))).toBe(canonical);
    });
  }

  it('names every vector; most are wrong on purpose', () => {
    for (const vectors of [readInclusionVectors(), readConsistencyVectors()]) {
      expect(vectors.filter(({ accepted }) => accepted).length).toBeLessThan(vectors.length / 10);
      expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
    }
    const canonical = readCanonicalVectors();
    expect(canonical.filter((vector) => vector.text === vector.canonical).length).toBeLessThan(canonical.length / 3);
  });

  it('matches the output of scripts/vectors.mjs', () => {
    for (const [name, text] of Object.entries(createVectorFiles())) {
      expect(readFileSync(new URL(`../../test/vectors/${name}`, import.meta.url), 'utf8')).toBe(text);
    }
  });
});
