import { ColibriError } from '../../errors.ts';
import { formatTaskId } from '../../ids.ts';
import type { Task } from './record.ts';

/** Follows a link from the waiting task to the awaited one, or in reverse. */
export type Direction = 'awaited' | 'waiting';

/** A task and its direct links, at most `maxLinks + 1`: a longer list than `maxLinks` was cut. */
export interface TaskLinks {
  readonly taskNo: number;
  readonly linked: readonly number[];
}

export interface LinkRequest {
  readonly direction: Direction;
  /** Returned first; then the tasks reachable from them, nearest first, up to `maxTasks` in total. */
  readonly from: readonly number[];
  readonly maxTasks: number;
  readonly maxLinks: number;
}

export type ReadLinks = (request: LinkRequest) => Promise<TaskLinks[]>;

/** Limit of links read in each direction: the search runs while all other writers wait. */
export const MAX_LINKS_READ = 10_000;

/**
 * Throws if the task waits for itself: through dependencies, or as a parent for its children. Call inside the
 * transaction of the change.
 */
export async function assertAcyclic(taskNo: number, readLinks: ReadLinks): Promise<void> {
  // Usually few tasks wait for a task that is being linked, so that direction goes first.
  const walks = [new Walk(taskNo, 'waiting', readLinks), new Walk(taskNo, 'awaited', readLinks)];
  // Either direction alone can decide, so both get the same rising allowance.
  for (const allowance of [MAX_LINKS_READ / 100, MAX_LINKS_READ / 10, MAX_LINKS_READ]) {
    for (const walk of walks) {
      const cycle = await walk.advance(allowance);
      if (cycle !== undefined) throw circular(cycle);
      if (walk.isFinished) return;
    }
  }
  throw undecided(taskNo);
}

/** Whether the change adds a link that could close a cycle. */
export function mayCloseCycle(before: Task | undefined, after: Task): boolean {
  // Only its parent can wait for a task that is being created.
  if (before === undefined) return after.parent_id !== null && after.depends_on.length > 0;
  const hasNewParent = after.parent_id !== null && after.parent_id !== before.parent_id;
  return hasNewParent || after.depends_on.some((id) => !before.depends_on.includes(id));
}

/** How many of the dependencies are open. */
export function countUnmet(dependsOn: readonly string[], openTasks: ReadonlySet<string>): number {
  return dependsOn.filter((id) => openTasks.has(id)).length;
}

const MAX_NAMED = 10;

/** Names only the first few: a parent can have thousands of children. */
export function waitsFor(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `waits for ${ids.slice(0, MAX_NAMED).join(', ')}${more}`;
}

function circular(cycle: readonly number[]): ColibriError {
  const ids = cycle.map(formatTaskId);
  return new ColibriError(
    'ERR_CIRCULAR_DEPENDENCY',
    `the change would create a cycle in which each task waits for the next: ${ids.join(' → ')}`,
    { taskId: ids[0], cycle: ids },
    { advice: 'remove one of these links' },
  );
}

function undecided(taskNo: number): ColibriError {
  const taskId = formatTaskId(taskNo);
  return new ColibriError(
    'ERR_CIRCULAR_DEPENDENCY',
    `cannot rule out a cycle: more than ${MAX_LINKS_READ} links start at ${taskId}, and as many lead to it; nothing was changed`,
    { taskId, maxLinks: MAX_LINKS_READ },
    {
      advice: `remove dependencies of ${taskId} that others imply, or create a new task that depends on both`,
    },
  );
}

/** A task has at most 50 dependencies; only parents and popular dependencies exceed this. */
const NARROW = 64;
const MAX_READ_AHEAD = 500;
const FIRST_READ_AHEAD = 8;
/** The fixed cost of a statement, in links, so that a search of many short steps is bounded too. */
const STATEMENT_COST = 20;

/** Breadth-first search for a path from a task back to itself; reads ahead, because a statement is a round trip. */
class Walk {
  readonly #start: number;
  readonly #direction: Direction;
  readonly #readLinks: ReadLinks;
  readonly #known = new Map<number, readonly number[]>();
  readonly #cameFrom = new Map<number, number>();
  readonly #queue: number[];
  #position = 0;
  #spent = 0;
  #readAhead = FIRST_READ_AHEAD;

  constructor(start: number, direction: Direction, readLinks: ReadLinks) {
    this.#start = start;
    this.#direction = direction;
    this.#readLinks = readLinks;
    this.#queue = [start];
  }

  /** Every task in this direction was visited. */
  get isFinished(): boolean {
    return this.#position === this.#queue.length;
  }

  /** Returns the shortest cycle, or undefined if there is none or none was found within the allowance. */
  async advance(allowance: number): Promise<number[] | undefined> {
    for (; !this.isFinished; this.#position += 1) {
      const taskNo = this.#queue[this.#position] as number;
      const linked = this.#known.get(taskNo) ?? (await this.#read(taskNo, allowance));
      if (linked === undefined) return undefined;
      for (const linkedNo of linked) {
        if (linkedNo === this.#start) return this.#trace(taskNo);
        if (this.#cameFrom.has(linkedNo)) continue;
        this.#cameFrom.set(linkedNo, taskNo);
        this.#queue.push(linkedNo);
      }
    }
    return undefined;
  }

  async #read(taskNo: number, allowance: number): Promise<readonly number[] | undefined> {
    if (this.#spent >= allowance) return undefined;
    await this.#readNarrow();
    return this.#known.get(taskNo) ?? this.#readWide(taskNo, allowance);
  }

  async #readNarrow(): Promise<void> {
    const from = this.#queue.slice(this.#position, this.#position + MAX_READ_AHEAD);
    const tasks = await this.#request(from, from.length + this.#readAhead, NARROW);
    const fresh = tasks.filter((task) => !this.#known.has(task.taskNo));
    for (const task of fresh) if (task.linked.length <= NARROW) this.#known.set(task.taskNo, task.linked);
    // Where many paths lead to the same tasks, reading ahead returns known tasks again.
    this.#readAhead = fresh.length * 2 < tasks.length ? 0 : Math.min(MAX_READ_AHEAD, this.#readAhead * 2 + 1);
  }

  async #readWide(taskNo: number, allowance: number): Promise<readonly number[] | undefined> {
    const maxLinks = allowance - this.#spent;
    const [task] = maxLinks > NARROW ? await this.#request([taskNo], 1, maxLinks) : [];
    if (task === undefined || task.linked.length > maxLinks) return undefined;
    this.#known.set(taskNo, task.linked);
    return task.linked;
  }

  async #request(from: readonly number[], maxTasks: number, maxLinks: number): Promise<TaskLinks[]> {
    const tasks = await this.#readLinks({ direction: this.#direction, from, maxTasks, maxLinks });
    this.#spent += tasks.reduce((links, { linked }) => links + linked.length, STATEMENT_COST);
    return tasks;
  }

  /** The cycle from the start to itself, each task followed by the one that it waits for. */
  #trace(last: number): number[] {
    const path = [this.#start];
    for (
      let step: number | undefined = last;
      step !== undefined && step !== this.#start;
      step = this.#cameFrom.get(step)
    )
      path.push(step);
    path.push(this.#start);
    return this.#direction === 'awaited' ? path.reverse() : path;
  }
}
