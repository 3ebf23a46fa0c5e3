import type { SqlValue } from '../../db/database.ts';
import type { Salt } from '../../integrity/index.ts';
import { derive, type RecordOf, type RowOf } from './fields/derive.ts';
import { TASK_FIELDS } from './fields/table.ts';
import { isOpen, isReady } from './workflows.ts';

/** How a task is stored: as columns of `tasks`, and as the content whose digest the log holds. */

/** A task with every field, in the order in which it is hashed. */
export type Task = RecordOf<typeof TASK_FIELDS>;

export const taskFields = derive(TASK_FIELDS);

export interface TaskRow extends RowOf<typeof TASK_FIELDS> {
  /** The entry that holds the digest of this version. */
  readonly event_idx: number;
  readonly salt: Salt;
  /** The entry of the latest claim: its fencing token. */
  readonly claim_idx: number | null;
  readonly is_open: number;
  readonly is_ready: number;
}

/** A task with what is stored about it beside its content. */
export interface TokenedTask {
  readonly task: Task;
  /** The fencing token; null if the task was never claimed. */
  readonly token: number | null;
  /** How many of its links lead to open tasks; 0 if it is closed. */
  readonly unmet: number;
}

/** What ties a row to its entry. */
export type EventOf = Pick<TaskRow, 'event_idx' | 'salt' | 'claim_idx'>;

/** Values of the column `is_ready`: a task that can be picked up, and one that could be if it did not wait. */
export const READY = 1;
export const WAITING = 2;

/** The columns of a task: the same for writing it and for checking what is stored. */
export function toColumns(task: Task, event: EventOf, waits: boolean): Record<keyof TaskRow, SqlValue> {
  return Object.assign(taskFields.toRow(task), {
    event_idx: event.event_idx,
    salt: event.salt,
    claim_idx: event.claim_idx,
    is_open: isOpen(task.status) ? 1 : 0,
    is_ready: !isReady(task.workflow, task.status) ? 0 : waits ? WAITING : READY,
  });
}
