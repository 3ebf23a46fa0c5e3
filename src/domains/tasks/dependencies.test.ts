import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ColibriError } from '../../errors.ts';
import { assertNoCircle, type Wait, waitsFor } from './dependencies.ts';

function waits(...steps: readonly (readonly [number, number])[]): Wait[] {
  return steps.map(([waiting_no, awaited_no]) => ({ waiting_no, awaited_no }));
}

function cycleOf(taskNo: number, steps: readonly Wait[]): unknown {
  try {
    assertNoCircle(taskNo, steps);
    return undefined;
  } catch (error) {
    if (!(error instanceof ColibriError) || error.code !== 'ERR_CIRCULAR_DEPENDENCY') throw error;
    return error.facts['cycle'];
  }
}

describe('finding a circle', () => {
  it('accepts no waits, a chain and many ways to one end', () => {
    expect(cycleOf(1, [])).toBeUndefined();
    expect(cycleOf(1, waits([1, 2], [2, 3]))).toBeUndefined();
    expect(cycleOf(1, waits([1, 2], [1, 3], [2, 4], [3, 4]))).toBeUndefined();
  });

  it('names who waits for whom in order, beginning and ending with the task asked about', () => {
    expect(cycleOf(1, waits([1, 1]))).toEqual(['T-0001', 'T-0001']);
    expect(cycleOf(2, waits([2, 5], [5, 9], [9, 2]))).toEqual(['T-0002', 'T-0005', 'T-0009', 'T-0002']);
  });

  it('names the shortest', () => {
    expect(cycleOf(1, waits([1, 2], [2, 3], [3, 1], [1, 4], [4, 1]))).toEqual(['T-0001', 'T-0004', 'T-0001']);
  });

  it('is not kept busy by a circle elsewhere', () => {
    expect(cycleOf(1, waits([1, 2], [2, 3], [3, 2]))).toBeUndefined();
  });

  it('says which steps to look at', () => {
    expect(() => assertNoCircle(1, waits([1, 2], [2, 1]))).toThrow('T-0001 → T-0002 → T-0001');
  });

  it('agrees with trying every way, in any graph', () => {
    const number = fc.integer({ min: 1, max: 6 });
    const graph = fc.array(fc.tuple(number, number), { maxLength: 14 });
    fc.assert(
      fc.property(graph, (steps) => {
        const found = cycleOf(1, waits(...steps)) as string[] | undefined;
        const length = shortestWayBack(steps);
        expect(found?.length).toBe(length === undefined ? undefined : length + 1);
        const numbers = found?.map((id) => Number(id.slice(2))) ?? [];
        for (let index = 1; index < numbers.length; index += 1) {
          expect(steps).toContainEqual([numbers[index - 1], numbers[index]]);
        }
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

/** All tasks that can be reached in exactly n steps, for n = 1, 2, …: slow and plain. */
function shortestWayBack(steps: readonly (readonly [number, number])[]): number | undefined {
  let reached = new Set([1]);
  for (let length = 1; length <= 6; length += 1) {
    const from = reached;
    reached = new Set(steps.filter(([waiting]) => from.has(waiting)).map(([, awaited]) => awaited));
    if (reached.has(1)) return length;
  }
  return undefined;
}

describe('saying what a task waits for', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `T-${1000 + index}`);

  it('names up to ten and counts the rest', () => {
    expect(waitsFor(ids(1))).toBe('waits for T-1000');
    expect(waitsFor(ids(2))).toBe('waits for T-1000, T-1001');
    expect(waitsFor(ids(10))).not.toContain('more');
    expect(waitsFor(ids(11))).toMatch(/T-1009 and 1 more$/);
  });
});
