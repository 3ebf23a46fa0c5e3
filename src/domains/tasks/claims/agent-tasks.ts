import type { Reader } from '../../../db/database.ts';
import { formatTaskId } from '../../../ids.ts';

/** A task that an agent holds. */
export interface ClaimedTask {
  readonly task_id: string;
  readonly title: string;
  readonly status: string;
  readonly holder: string;
}

/** Every task with a holder, oldest first. */
export async function listClaimedTasks(db: Reader): Promise<ClaimedTask[]> {
  const columns = 'task_no, title, status, holder';
  const rows = await db.query<Omit<ClaimedTask, 'task_id'> & { readonly task_no: number }>(
    `SELECT ${columns} FROM tasks WHERE holder IS NOT NULL ORDER BY task_no`,
  );
  return rows.map(({ task_no, ...task }) => ({ task_id: formatTaskId(task_no), ...task }));
}
