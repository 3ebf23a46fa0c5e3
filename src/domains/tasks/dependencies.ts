import { ColibriError } from '../../errors.ts';
import { formatTaskId } from '../../ids.ts';

/** One step of who waits for whom. */
export interface Wait {
  readonly waiting_no: number;
  readonly awaited_no: number;
}

/**
 * Given all waits that can be reached from a task, refuses a way back to it. A parent waits for its children as a task
 * waits for those it depends on, so a child that depends on its parent is a circle too.
 */
export function assertNoCircle(taskNo: number, waits: readonly Wait[]): void {
  const circle = findCircle(taskNo, waits);
  if (circle === undefined) return;
  const ids = circle.map(formatTaskId);
  throw new ColibriError(
    'ERR_CIRCULAR_DEPENDENCY',
    `that would make a circle in which each waits for the next: ${ids.join(' → ')}; leave one of these links out`,
    { taskId: formatTaskId(taskNo), cycle: ids },
  );
}

const MAX_NAMED = 10;

/** A parent can have thousands of children; a reader needs to know a few of them. */
export function waitsFor(ids: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `waits for ${ids.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** The shortest way from the task back to itself. */
function findCircle(taskNo: number, waits: readonly Wait[]): number[] | undefined {
  const awaited = new Map<number, number[]>();
  for (const { waiting_no, awaited_no } of waits) {
    const known = awaited.get(waiting_no);
    if (known === undefined) awaited.set(waiting_no, [awaited_no]);
    else known.push(awaited_no);
  }
  const cameFrom = new Map<number, number>();
  const queue = [taskNo];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const awaitedNo of awaited.get(next) ?? []) {
      if (awaitedNo === taskNo) return trace(cameFrom, taskNo, next);
      if (cameFrom.has(awaitedNo)) continue;
      cameFrom.set(awaitedNo, next);
      queue.push(awaitedNo);
    }
  }
  return undefined;
}

function trace(cameFrom: ReadonlyMap<number, number>, start: number, last: number): number[] {
  const path = [start];
  for (let step: number | undefined = last; step !== undefined && step !== start; step = cameFrom.get(step))
    path.push(step);
  path.push(start);
  return path.reverse();
}
