import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import {
  chain,
  counted,
  denseGraph,
  type Link,
  linksInMemory,
  shortestCycle,
} from '../../../test/tasks/fixtures/link-graph.ts';
import { ColibriError } from '../../errors.ts';
import { assertAcyclic, MAX_LINKS_READ, mayCloseCycle, type ReadLinks, waitsFor } from './dependencies.ts';
import type { Task } from './record.ts';

async function cycleOf(taskNo: number, links: readonly Link[], read = linksInMemory): Promise<unknown> {
  const error = await refusalOf(taskNo, read(links));
  return error?.facts['cycle'];
}

async function refusalOf(taskNo: number, readLinks: ReadLinks): Promise<ColibriError | undefined> {
  try {
    await assertAcyclic(taskNo, readLinks);
    return undefined;
  } catch (error) {
    if (!(error instanceof ColibriError) || error.code !== 'ERR_CIRCULAR_DEPENDENCY') throw error;
    return error;
  }
}

describe('assertAcyclic', () => {
  it('accepts no links, a chain and many paths to one task', async () => {
    expect(await cycleOf(1, [])).toBeUndefined();
    expect(await cycleOf(1, links([1, 2], [2, 3]))).toBeUndefined();
    expect(await cycleOf(1, links([1, 2], [1, 3], [2, 4], [3, 4]))).toBeUndefined();
  });

  it('lists the cycle in waiting order, from the changed task back to itself', async () => {
    expect(await cycleOf(1, links([1, 1]))).toEqual(['T-0001', 'T-0001']);
    expect(await cycleOf(2, links([2, 5], [5, 9], [9, 2]))).toEqual(['T-0002', 'T-0005', 'T-0009', 'T-0002']);
  });

  it('reports the shortest cycle', async () => {
    expect(await cycleOf(1, links([1, 2], [2, 3], [3, 1], [1, 4], [4, 1]))).toEqual(['T-0001', 'T-0004', 'T-0001']);
  });

  it('terminates when there is a cycle elsewhere', async () => {
    expect(await cycleOf(1, links([1, 2], [2, 3], [3, 2]))).toBeUndefined();
    expect(await cycleOf(1, links([1, 2], [2, 3], [3, 2], [4, 1], [4, 5], [5, 4]))).toBeUndefined();
  });

  it('names the links of the cycle in the message', async () => {
    await expect(assertAcyclic(1, linksInMemory(links([1, 2], [2, 1])))).rejects.toThrow('T-0001 → T-0002 → T-0001');
  });

  it('agrees with an exhaustive search in any graph', async () => {
    expect(await disagreements(linksInMemory)).toEqual([]);
  });

  it('disagrees with the exhaustive search when every fifth link is hidden', async () => {
    const forgetful = (all: readonly Link[]) => linksInMemory(all.filter((_, index) => index % 5 !== 4));
    expect((await disagreements(forgetful)).length).toBeGreaterThan(10);
  });
});

const UP_TO_TEN = fc.integer({ min: 1, max: 10 });
const GRAPHS = fc.sample(fc.array(fc.tuple(UP_TO_TEN, UP_TO_TEN), { minLength: 6, maxLength: 24 }), {
  seed: 1,
  numRuns: 600,
});

/** Graphs for which search and reference differ, or whose reported cycle does not exist. */
async function disagreements(read: (all: readonly Link[]) => ReadLinks): Promise<readonly (readonly Link[])[]> {
  const wrong: (readonly Link[])[] = [];
  for (const graph of GRAPHS) {
    const found = ((await cycleOf(1, graph, read)) as string[] | undefined)?.map((id) => Number(id.slice(2)));
    const length = shortestCycle(1, graph);
    const isReal = found
      ?.slice(1)
      .every((awaited, index) => graph.some(([a, b]) => a === found[index] && b === awaited));
    if (found?.length !== (length === undefined ? undefined : length + 1) || isReal === false) wrong.push(graph);
  }
  return wrong;
}

describe('the cost of assertAcyclic', () => {
  const cases: Readonly<Record<string, { graph: Link[]; taskNo: number; statements: number; links: number }>> = {
    'the end of a chain of 100,000': { graph: chain(100_000), taskNo: 100_000, statements: 1, links: 0 },
    'the beginning of a chain of 100,000': { graph: chain(100_000), taskNo: 1, statements: 5, links: 200 },
    'near the end of a chain of 100,000': { graph: chain(100_000), taskNo: 99_000, statements: 20, links: 4000 },
    'near the end of a dense graph of 5,000': {
      graph: denseGraph(5000, 50),
      taskNo: 4995,
      statements: 10,
      links: 9000,
    },
    'near the beginning of a dense graph of 5,000': {
      graph: denseGraph(5000, 50),
      taskNo: 5,
      statements: 4,
      links: 600,
    },
    'one of 100,000 children that waits for a chain': {
      graph: [...chain(3000), ...range(100_000).map((no): Link => [5000, 5001 + no]), [5001, 3000]],
      taskNo: 5001,
      statements: 4,
      links: 300,
    },
    'a dependency of 100,000 that waits for a chain of 3,000': {
      graph: [...chain(3000), ...range(100_000).map((no): Link => [5001 + no, 3000])],
      taskNo: 3000,
      statements: 20,
      links: 14_000,
    },
  };
  for (const [name, { graph, taskNo, ...most }] of Object.entries(cases)) {
    promiseTest('tasks/bounded-search', `${name} is cheap`, async () => {
      const { readLinks, cost } = counted(linksInMemory(graph));
      expect(await refusalOf(taskNo, readLinks)).toBeUndefined();
      expect(cost.statements).toBeLessThanOrEqual(most.statements);
      expect(cost.links).toBeLessThanOrEqual(most.links);
    });
  }

  const HUBS = range(90).flatMap((hub): Link[] => [
    [10 + hub, 1],
    ...range(9000).map((no): Link => [1000 + hub * 9000 + no, 10 + hub]),
  ]);
  const tooLarge: Readonly<Record<string, { graph: Link[]; taskNo: number }>> = {
    'the middle of a chain of 100,000': { graph: chain(100_000), taskNo: 50_000 },
    'the middle of a dense graph of 5,000': { graph: denseGraph(5000, 50), taskNo: 2500 },
    'a chain whose every task leads into a dense graph, from both sides': {
      graph: [...comb(1), ...comb(-1)],
      taskNo: 0,
    },
    'ninety tasks with 9,000 dependents each, and a long chain': {
      graph: [...HUBS, [1, 2_000_000], ...chain(20_000).map(([a, b]): Link => [2_000_000 + b - 1, 2_000_000 + a - 1])],
      taskNo: 1,
    },
  };
  for (const [name, { graph, taskNo }] of Object.entries(tooLarge)) {
    promiseTest('tasks/bounded-search', `${name} is refused after a limited search`, async () => {
      const { readLinks, cost } = counted(linksInMemory(graph));
      const refusal = await refusalOf(taskNo, readLinks);
      expect(refusal?.facts).toMatchObject({ maxLinks: MAX_LINKS_READ });
      expect(refusal?.message).toMatch(
        /more than 10000 links .* nothing was changed; remove dependencies .* a new task/,
      );
      // The last statement in each direction may exceed the limit.
      expect(cost.links).toBeLessThanOrEqual(2 * (MAX_LINKS_READ + 1000 * 65));
      expect(cost.statements).toBeLessThanOrEqual(800);
    });
  }
});

/** A chain from task 0 whose tasks are each linked to 50 tasks of a dense graph. */
function comb(sign: 1 | -1): Link[] {
  const forward = range(3000).flatMap((no): Link[] => [
    [no, no + 1],
    ...range(50).map((tooth): Link => [no, 10_000 + ((no + tooth) % 900)]),
  ]);
  const dense = denseGraph(900, 50).map(([a, b]): Link => [a + 9999, b + 9999]);
  return [...forward, ...dense].map(([a, b]) => (sign === 1 ? [a, b] : [b === 0 ? 0 : -b, a === 0 ? 0 : -a]));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function links(...all: readonly Link[]): readonly Link[] {
  return all;
}

describe('mayCloseCycle', () => {
  const task = (parent_id: string | null, depends_on: readonly string[]) => ({ parent_id, depends_on }) as Task;
  const parts = [null, 'T-0001', 'T-0002'].flatMap((parent) =>
    [[], ['T-0003'], ['T-0004'], ['T-0004', 'T-0003']].map((dependencies) => task(parent, dependencies)),
  );

  it('returns true for a new task only with both a parent and a dependency', () => {
    for (const after of parts)
      expect(mayCloseCycle(undefined, after)).toBe(after.parent_id !== null && after.depends_on.length > 0);
  });

  it('returns true for a change that adds a link, whatever it removes', () => {
    for (const before of parts)
      for (const after of parts) {
        const linksOf = ({ parent_id, depends_on }: Task) => [`parent ${parent_id ?? ''}`, ...depends_on];
        const old = new Set([...linksOf(before), 'parent ']);
        expect(mayCloseCycle(before, after)).toBe(linksOf(after).some((link) => !old.has(link)));
      }
  });
});

describe('waitsFor', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `T-${1000 + index}`);

  it('names up to ten tasks and counts the rest', () => {
    expect(waitsFor(ids(1))).toBe('waits for T-1000');
    expect(waitsFor(ids(2))).toBe('waits for T-1000, T-1001');
    expect(waitsFor(ids(10))).not.toContain('more');
    expect(waitsFor(ids(11))).toMatch(/T-1009 and 1 more$/);
  });
});
