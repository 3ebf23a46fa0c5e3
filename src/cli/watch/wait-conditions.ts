import type { Reader } from '../../db/database.ts';
import { listProjects } from '../../domains/tasks/board.ts';
import type { ClaimContext } from '../../domains/tasks/claims/holder.ts';
import { countByStatus, listTasks } from '../../domains/tasks/list-query.ts';
import { findLapsedTask, listFreeTasks } from '../../domains/tasks/next-actions.ts';
import { type Status, WORKFLOWS } from '../../domains/tasks/workflows.ts';

/** Finds the id of a task of one project. */
type Find = (db: Reader, project: string, context: ClaimContext) => Promise<string | undefined>;

/** What a script can wait for in a project, by name. */
const CONDITIONS = { ready: findReady, lapsed: findLapsedTask, review: findInReview } as const satisfies Record<
  string,
  Find
>;

export type Condition = keyof typeof CONDITIONS;
export const CONDITION_NAMES = Object.keys(CONDITIONS) as Condition[];

/** The id of a task that meets the condition; `project` undefined stands for every project. */
export async function findMeeting(
  db: Reader,
  condition: Condition,
  project: string | undefined,
  context: ClaimContext,
): Promise<string | undefined> {
  for (const name of project === undefined ? await listProjects(db) : [project]) {
    const taskId = await CONDITIONS[condition](db, name, context);
    if (taskId !== undefined) return taskId;
  }
  return undefined;
}

/** The first free task that task_next_actions offers. */
async function findReady(db: Reader, project: string): Promise<string | undefined> {
  const [first] = await listFreeTasks(db, { project, limit: 1 });
  return first?.task_id;
}

const IN_REVIEW: readonly Status[] = Object.values(WORKFLOWS).map(({ review }) => review);

/** The task that changed last. The stored counts keep a project without one from being scanned. */
async function findInReview(db: Reader, project: string): Promise<string | undefined> {
  const counts = await countByStatus(db, { project });
  const status = IN_REVIEW.filter((name) => (counts.get(name) ?? 0) > 0);
  if (status.length === 0) return undefined;
  const { tasks } = await listTasks(db, {
    project,
    status,
    limit: 1,
    offset: 0,
    sort_by: 'updated',
    sort_order: 'desc',
  });
  return tasks[0]?.task_id;
}
