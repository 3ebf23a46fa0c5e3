import { ColibriError } from '../../errors.ts';
import { formatTaskId } from '../../ids.ts';
import type { Task } from './record.ts';

/** Along a link from the waiting task to the awaited one, or against it. */
export type Direction = 'awaited' | 'waiting';

/** A task with the tasks that one link leads to; cut after `maxLinks + 1`, so that a cut list is longer than `maxLinks`. */
export interface TaskLinks {
  readonly taskNo: number;
  readonly linked: readonly number[];
}

export interface LinkRequest {
  readonly direction: Direction;
  /** These come first; the tasks that they lead to follow, nearest first, up to `maxTasks` in total. */
  readonly from: readonly number[];
  readonly maxTasks: number;
  readonly maxLinks: number;
}

export type ReadLinks = (request: LinkRequest) => Promise<TaskLinks[]>;

/** Links that the search reads in each direction before it gives up: it runs while every other writer waits. */
export const MAX_LINKS_READ = 10_000;

/** A parent waits for its children as a task waits for its dependencies. Call inside the transaction of the change. */
export async function assertAcyclic(taskNo: number, readLinks: ReadLinks): Promise<void> {
  // Few tasks wait for one that is being linked, as a rule, so that direction goes first.
  const walks = [new Walk(taskNo, 'waiting', readLinks), new Walk(taskNo, 'awaited', readLinks)];
  // One finished direction is enough: neither may spend much before the other has.
  for (const allowance of [MAX_LINKS_READ / 100, MAX_LINKS_READ / 10, MAX_LINKS_READ]) {
    for (const walk of walks) {
      const cycle = await walk.advance(allowance);
      if (cycle !== undefined) throw circular(cycle);
      if (walk.isFinished) return;
    }
  }
  throw undecided(taskNo);
}

/** True if a cycle is possible at all: every new cycle enters the task and leaves it again. */
export function mayCloseCycle(before: Task | undefined, after: Task): boolean {
  // Nothing can wait for a task that is being created, except its parent.
  if (before === undefined) return after.parent_id !== null && after.depends_on.length > 0;
  const hasNewParent = after.parent_id !== null && after.parent_id !== before.parent_id;
  return hasNewParent || after.depends_on.some((id) => !before.depends_on.includes(id));
}

const MAX_NAMED = 10;

/** A parent can have thousands of children; a reader needs to know a few of them. */
export function waitsFor(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `waits for ${ids.slice(0, MAX_NAMED).join(', ')}${more}`;
}

function circular(cycle: readonly number[]): ColibriError {
  const ids = cycle.map(formatTaskId);
  return new ColibriError(
    'ERR_CIRCULAR_DEPENDENCY',
    `that would make a cycle in which each task waits for the next: ${ids.join(' → ')}`,
    { taskId: ids[0], cycle: ids },
    { advice: 'leave one of these links out' },
  );
}

function undecided(taskNo: number): ColibriError {
  const taskId = formatTaskId(taskNo);
  return new ColibriError(
    'ERR_CIRCULAR_DEPENDENCY',
    `cannot rule out a cycle: more than ${MAX_LINKS_READ} links lead on from ${taskId}, and as many lead to it; nothing was changed`,
    { taskId, maxLinks: MAX_LINKS_READ },
    {
      advice: `remove dependencies of ${taskId} that others imply, or create a new task that depends on both`,
    },
  );
}

/** Dependencies are at most 50, so only parents and popular dependencies have more links than this. */
const NARROW = 64;
const MAX_READ_AHEAD = 500;
const FIRST_READ_AHEAD = 8;
/** What a statement costs beside its rows, in links: a search of many short steps must end, too. */
const STATEMENT_COST = 20;

/** A breadth-first search from a task for a way back to itself; reads ahead, because a statement is a round trip. */
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

  /** True when every task in this direction was visited. */
  get isFinished(): boolean {
    return this.#position === this.#queue.length;
  }

  /** Returns the shortest cycle, or undefined when there is none, or none was found within the allowance. */
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
    // Where many ways lead to the same tasks, reading ahead finds known ones again.
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

  /** From the start back to itself, each task followed by one that it waits for. */
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
