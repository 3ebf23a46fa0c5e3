import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROMISES } from './promises.ts';
import { listFiles } from './support/folders.ts';

describe('promises', () => {
  it('every promise is cited by a test', () => {
    const cited = new Set(
      [...testFiles()].flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/promiseTest\(\s*'([^']+)'/g)].map(([, id]) => id),
      ),
    );
    expect(Object.keys(PROMISES).filter((id) => !cited.has(id))).toEqual([]);
  });

  it('the promises cover the 26 tests of the server contract', () => {
    const seeds = Object.values(PROMISES).flatMap((promise) => ('seed' in promise ? [promise.seed] : []));
    expect(seeds.toSorted()).toEqual(Array.from({ length: 26 }, (_, index) => `T-${index + 1}`).toSorted());
  });
});

function testFiles(): string[] {
  return [...listFiles('src', '.test.ts'), ...listFiles('test', '.test.ts')];
}
