import type { Direction, ReadLinks } from '../../src/domains/tasks/dependencies.ts';

/** A task that waits, and one that it waits for. */
export type Link = readonly [waiting: number, awaited: number];

/** Links in memory, read as a database reads them. */
export function linksInMemory(links: readonly Link[]): ReadLinks {
  const maps = { awaited: new Map<number, number[]>(), waiting: new Map<number, number[]>() };
  const add = (direction: Direction, from: number, to: number) => {
    const known = maps[direction].get(from);
    if (known === undefined) maps[direction].set(from, [to]);
    else known.push(to);
  };
  for (const [waiting, awaited] of links) {
    add('awaited', waiting, awaited);
    add('waiting', awaited, waiting);
  }
  return async ({ direction, from, maxTasks, maxLinks }) => {
    const linkedTo = (taskNo: number) => maps[direction].get(taskNo)?.slice(0, maxLinks + 1) ?? [];
    const run = new Set(from);
    for (const taskNo of run) {
      if (run.size >= maxTasks) break;
      for (const next of linkedTo(taskNo)) run.add(next);
    }
    return [...run].slice(0, maxTasks).map((taskNo) => ({ taskNo, linked: linkedTo(taskNo) }));
  };
}

/** The length of the shortest cycle through a task, by trying every way: slow and plain. */
export function shortestCycle(taskNo: number, links: readonly Link[]): number | undefined {
  const seen = new Set<string>();
  let reached = new Set([taskNo]);
  for (let length = 1; reached.size > 0; length += 1) {
    const from = reached;
    reached = new Set(links.filter(([waiting]) => from.has(waiting)).map(([, awaited]) => awaited));
    if (reached.has(taskNo)) return length;
    // The same tasks again after some steps: a cycle elsewhere, which never comes back here.
    const state = [...reached].sort((a, b) => a - b).join();
    if (seen.has(state)) return undefined;
    seen.add(state);
  }
  return undefined;
}

/** What reading cost, in the units in which it is limited. */
export interface ReadingCost {
  statements: number;
  links: number;
}

export function counted(readLinks: ReadLinks): { readLinks: ReadLinks; cost: ReadingCost } {
  const cost = { statements: 0, links: 0 };
  return {
    cost,
    readLinks: async (request) => {
      const tasks = await readLinks(request);
      cost.statements += 1;
      cost.links += tasks.reduce((sum, { linked }) => sum + linked.length, 0);
      return tasks;
    },
  };
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Each task waits for the one before; task 1 waits for nothing. */
export function chain(length: number): Link[] {
  return range(length - 1).map((index) => [index + 2, index + 1]);
}

/** Each task waits for the `width` before it: as many ways from the last to the first as can be. */
export function denseGraph(tasks: number, width: number): Link[] {
  return range(tasks).flatMap((index) => range(Math.min(index, width)).map((back): Link => [index + 1, index - back]));
}
