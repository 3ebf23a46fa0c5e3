import { describe, expect, it } from 'vitest';
import type { Reader } from '../../db/database.ts';
import { whenFound } from './when-found.ts';

/** A ledger whose log has these sizes, one for each look at it. Counts the statements. */
function ledgerOf(sizes: readonly number[], abortAfter = sizes.length) {
  const abort = new AbortController();
  const counts = { sizes: 0, searches: 0, waits: 0 };
  const reader = {
    query: async () => {
      counts.sizes += 1;
      return [{ size: sizes[counts.sizes - 1] }];
    },
  } as unknown as Reader;
  const wait = async () => {
    counts.waits += 1;
    if (counts.waits + 1 >= abortAfter) abort.abort();
  };
  const run = (dependsOnTime: boolean, isThere: () => boolean) =>
    whenFound(
      { engine: 'postgres', location: '', read: (work) => work(reader) },
      abort.signal,
      {
        dependsOnTime,
        find: async () => {
          counts.searches += 1;
          return isThere() ? 'found' : undefined;
        },
      },
      () => ({ next: wait, close: () => undefined }),
    );
  return { counts, run };
}

describe('whenFound', () => {
  it('searches once while the log does not grow, however long it waits', async () => {
    const { counts, run } = ledgerOf(Array.from({ length: 1000 }, () => 7));
    expect(await run(false, () => false)).toBeUndefined();
    expect(counts).toEqual({ sizes: 1000, searches: 1, waits: 999 });
  });

  it('searches again when the log has grown, or is another one', async () => {
    const { counts, run } = ledgerOf([7, 7, 8, 8, 8, 5, 5]);
    expect(await run(false, () => false)).toBeUndefined();
    expect(counts.searches).toBe(3);
  });

  it('finds what is there already, and what a new entry brings', async () => {
    const there = ledgerOf([7]);
    expect(await there.run(false, () => true)).toBe('found');
    expect(there.counts).toEqual({ sizes: 1, searches: 1, waits: 0 });
    const later = ledgerOf([7, 7, 9, 9], 99);
    expect(await later.run(false, () => later.counts.sizes === 3)).toBe('found');
    expect(later.counts).toEqual({ sizes: 3, searches: 2, waits: 2 });
  });

  it('searches at every look what time alone can change', async () => {
    const { counts, run } = ledgerOf([7, 7, 7, 7]);
    expect(await run(true, () => counts.sizes === 4)).toBe('found');
    expect(counts.searches).toBe(4);
  });
});
