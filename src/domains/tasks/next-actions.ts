import type { Reader } from '../../db/database.ts';
import { formatTaskId } from '../../ids.ts';
import { waitsFor } from './dependencies.ts';
import { offered, type Present, withoutNulls } from './output.ts';
import { listUnmet } from './repository.ts';

export type NextAction = Present<ReturnType<typeof offered.read>> & { readonly dependencies_unmet: number };

export interface BlockedTask {
  readonly task_id: string;
  readonly title: string;
  readonly blocked_reason: string;
  readonly dependencies_unmet: number;
}

/** Whether the task waits for an open task. Not EXISTS, for which PostgreSQL may hash the links of all tasks. */
const WAITS = `COALESCE(
  (SELECT 1 FROM task_dependencies JOIN tasks AS awaited ON awaited.task_no = task_dependencies.depends_on
   WHERE task_dependencies.task_no = tasks.task_no AND awaited.is_open = 1 LIMIT 1),
  (SELECT 1 FROM tasks AS child WHERE child.parent_no = tasks.task_no AND child.is_open = 1 LIMIT 1)
) IS NOT NULL`;

/** Tasks that are ready and wait for nothing: highest priority first, then oldest. */
export async function listNextActions(db: Reader, project: string, limit: number): Promise<NextAction[]> {
  const rows = await db.query(
    `SELECT ${offered.columns} FROM tasks
     WHERE project = $1 AND is_ready = 1 AND NOT (${WAITS})
     ORDER BY priority DESC, task_no LIMIT $2`,
    [project, limit],
  );
  return rows.map((row) => ({ ...withoutNulls(offered.read(row)), dependencies_unmet: 0 }));
}

/** Tasks that are blocked or wait for others, with the reason. */
export async function listBlocked(db: Reader, project: string, limit: number): Promise<BlockedTask[]> {
  const rows = await db.query<{ task_no: number; title: string; blocked_reason: string | null }>(
    `SELECT task_no, title, blocked_reason FROM (
       SELECT task_no, title, blocked_reason, priority FROM tasks WHERE project = $1 AND blocked_reason IS NOT NULL
       UNION ALL
       SELECT task_no, title, blocked_reason, priority FROM tasks WHERE project = $1 AND is_ready = 1 AND (${WAITS})
     ) AS held
     ORDER BY priority DESC, task_no LIMIT $2`,
    [project, limit],
  );
  const blocked: BlockedTask[] = [];
  for (const { task_no, title, blocked_reason } of rows) {
    const unmet = await listUnmet(db, task_no);
    blocked.push({
      task_id: formatTaskId(task_no),
      title,
      blocked_reason: blocked_reason ?? waitsFor(unmet),
      dependencies_unmet: unmet.length,
    });
  }
  return blocked;
}
