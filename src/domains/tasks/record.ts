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

/** A task with its fencing token, which is not part of its content: null if the task was never claimed. */
export interface TokenedTask {
  readonly task: Task;
  readonly token: number | null;
}

/** What ties a row to its entry. */
export type EventOf = Pick<TaskRow, 'event_idx' | 'salt' | 'claim_idx'>;

/** The columns of a task: the same for writing it and for checking what is stored. */
export function toColumns(task: Task, event: EventOf): Record<keyof TaskRow, SqlValue> {
  return {
    ...taskFields.toRow(task),
    event_idx: event.event_idx,
    salt: event.salt,
    claim_idx: event.claim_idx,
    is_open: isOpen(task.status) ? 1 : 0,
    is_ready: isReady(task.workflow, task.status) ? 1 : 0,
  };
}
