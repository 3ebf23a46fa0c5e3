import type { Reader } from '../../db/database.ts';
import { findTask } from '../../domains/tasks/repository.ts';
import { parseId } from '../../ids.ts';
import { taskNotFound } from '../support/task-argument.ts';
import type { TaskTitle, TimelineEvent, TimelineTotals } from './events.ts';
import { readEvents } from './read-events.ts';

/** An event must match all of them. */
export interface EventFilters {
  /** The last events, at most this many. */
  readonly limit?: number;
  readonly since?: string;
  readonly agent?: string;
  /** Only what was observed. */
  readonly observed?: boolean;
}

export interface EventReader {
  /** Called once, before the first event. */
  readonly begin: (task: TaskTitle) => void;
  /** Awaited before the next event is read. */
  readonly show: (event: TimelineEvent) => Promise<void>;
}

/** Passes on the events that match, or the last ones if there is a limit. Counts all that match. */
export async function selectEvents(
  db: Reader,
  taskId: string,
  filters: EventFilters,
  { begin, show }: EventReader,
): Promise<TimelineTotals> {
  const task = await findTask(db, taskId);
  if (task === undefined) throw await taskNotFound(db, taskId);
  const { title, status } = task;
  begin({ task_id: taskId, title, status });
  const { limit, observed: onlyObserved = false } = filters;
  const counts = { call: 0, decision: 0, observed: 0, commit: 0, usage: 0, unreadable: 0 };
  const last = limit === undefined ? undefined : createRing<TimelineEvent>(limit);
  let total = 0;
  for await (const event of readEvents(db, { task_id: taskId, task_no: parseId(taskId), onlyObserved })) {
    if (!isWanted(event, filters)) continue;
    total += 1;
    counts[event.kind] += 1;
    if (last === undefined) await show(event);
    else last.add(event);
  }
  for (const event of last?.list() ?? []) await show(event);
  return {
    kind: 'totals',
    task_id: taskId,
    title,
    status,
    calls: counts.call,
    decisions: counts.decision,
    observed: counts.observed,
    commits: counts.commit,
    usage: counts.usage,
    unreadable: counts.unreadable,
    shown: Math.min(total, limit ?? total),
  };
}

/** Compares the time of every event: events that waited in the spool are older than the entries before them. */
function isWanted(event: TimelineEvent, { since = '', agent }: EventFilters): boolean {
  return event.at >= since && (agent === undefined || namesOf(event).includes(agent));
}

function namesOf(event: TimelineEvent): (string | undefined)[] {
  return 'client' in event ? [event.actor, event.client, event.agent] : [event.actor];
}

/** Keeps the last elements that were added. */
function createRing<Element>(size: number) {
  const kept: Element[] = [];
  let next = 0;
  return {
    add: (element: Element): void => {
      kept[next] = element;
      next = (next + 1) % size;
    },
    list: (): Element[] => (kept.length < size ? kept : [...kept.slice(next), ...kept.slice(0, next)]),
  };
}
