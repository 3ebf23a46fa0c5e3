import { formatTaskId } from '../../ids.ts';
import { NumberColumn } from '../replay/number-column.ts';
import type { Report } from '../report.ts';

const MAX_NAMED = 10;
/** A call has a limited number of arguments. */
const MAX_COMPARED = 5000;

/** Reports a cycle of tasks that wait for each other. */
export function reportCycle(graph: WaitGraph, report: Report): void {
  const cycle = graph.findCycle();
  if (cycle === undefined) return;
  const [first = 0] = cycle;
  const named = [...cycle.slice(0, MAX_NAMED), ...(cycle.length > MAX_NAMED ? [] : [first])].map(formatTaskId);
  const more = cycle.length > MAX_NAMED ? ` and ${cycle.length - MAX_NAMED} more` : '';
  report(formatTaskId(first), `waits for itself, which no server allows: ${named.join(' → ')}${more}`);
}

/** A task waits for its dependencies, and a parent for its children. Time and memory grow with the number of links. */
export class WaitGraph {
  readonly #tasks: number;
  /** How many tasks each one still waits for. */
  readonly #awaited = new NumberColumn();
  /** Adjacency list: `#waiting` from `#begin[task]` to before `#end[task]` has the tasks that wait for a task. */
  readonly #waiting = new NumberColumn();
  readonly #begin = new NumberColumn();
  readonly #end = new NumberColumn();
  readonly #parents = new NumberColumn();
  #links = 0;

  constructor(tasks: number) {
    this.#tasks = tasks;
  }

  /** Call it in the order of the awaited tasks. */
  depend(task: number, awaited: number): void {
    if (!this.#has(task) || !this.#has(awaited)) return;
    if (this.#end.get(awaited) === 0) this.#begin.set(awaited, this.#links);
    this.#waiting.set(this.#links, task);
    this.#links += 1;
    this.#end.set(awaited, this.#links);
    this.#wait(task);
  }

  contain(parent: number, child: number): void {
    if (!this.#has(parent) || !this.#has(child)) return;
    this.#parents.set(child, parent);
    this.#wait(parent);
  }

  /** Removes tasks that wait for nothing until none is left; a remaining task leads to a cycle. */
  findCycle(): number[] | undefined {
    const free: number[] = [];
    for (let task = 1; task <= this.#tasks; task += 1) if (this.#awaited.get(task) === 0) free.push(task);
    let taken = 0;
    for (let task = free.pop(); task !== undefined; task = free.pop()) {
      taken += 1;
      for (const other of this.#waitingFor(task)) {
        const left = this.#awaited.get(other) - 1;
        this.#awaited.set(other, left);
        if (left === 0) free.push(other);
      }
    }
    return taken === this.#tasks ? undefined : this.#trace();
  }

  /** Every remaining task waits for a remaining task, so following these links reaches a cycle. */
  #trace(): number[] {
    const next = new NumberColumn();
    let task = 0;
    for (let awaited = this.#tasks; awaited >= 1; awaited -= 1) {
      if (this.#awaited.get(awaited) === 0) continue;
      for (const other of this.#waitingFor(awaited)) next.set(other, awaited);
      task = awaited;
    }
    const seen = new Set<number>();
    for (; !seen.has(task); task = next.get(task)) seen.add(task);
    const path = [...seen];
    const cycle = path.slice(path.indexOf(task));
    const first = cycle.indexOf(Math.min(...cycle.slice(0, MAX_COMPARED)));
    return [...cycle.slice(first), ...cycle.slice(0, first)];
  }

  *#waitingFor(task: number): Generator<number> {
    for (let place = this.#begin.get(task); place < this.#end.get(task); place += 1) yield this.#waiting.get(place);
    if (this.#parents.get(task) !== 0) yield this.#parents.get(task);
  }

  #wait(task: number): void {
    this.#awaited.set(task, this.#awaited.get(task) + 1);
  }

  /** Rows of tasks that do not exist are reported elsewhere, and must not decide how much memory is taken. */
  #has(task: number): boolean {
    return Number.isSafeInteger(task) && task >= 1 && task <= this.#tasks;
  }
}
