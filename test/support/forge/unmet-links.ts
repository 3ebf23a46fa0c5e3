import type { Transaction } from '../../../src/db/database.ts';

/** Plain SQL over all links: what the program keeps up to date change by change. */

/** Whether a row of `tasks` waits for an open task. */
export const WAITS = `(
  EXISTS (SELECT 1 FROM task_dependencies JOIN tasks AS awaited ON awaited.task_no = task_dependencies.depends_on
          WHERE task_dependencies.task_no = tasks.task_no AND awaited.is_open = 1)
  OR EXISTS (SELECT 1 FROM tasks AS child WHERE child.parent_no = tasks.task_no AND child.is_open = 1))`;

/** Every row that `task_unmet` should have. */
export const UNMET = `SELECT task_no, unmet FROM (
    SELECT tasks.task_no, (
      SELECT COUNT(*) FROM task_waits
      WHERE waiting_no = tasks.task_no AND (SELECT is_open FROM tasks AS awaited WHERE awaited.task_no = awaited_no) = 1
    ) AS unmet FROM tasks WHERE tasks.is_open = 1
  ) AS counted WHERE unmet > 0`;

/** For rows that were written directly. */
export async function storeUnmetLinks(db: Transaction): Promise<void> {
  await db.query('DELETE FROM task_unmet');
  await db.query(`INSERT INTO task_unmet (task_no, unmet) ${UNMET}`);
  await db.query('UPDATE tasks SET is_ready = 1 WHERE is_ready = 2');
  await db.query('UPDATE tasks SET is_ready = 2 WHERE is_ready = 1 AND task_no IN (SELECT task_no FROM task_unmet)');
}
