import type { Engine, Reader, Transaction } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { ColibriError } from '../../errors.ts';
import { formatTaskId, parseId, taskNumber } from '../../ids.ts';
import { parseJson } from '../../integrity/index.ts';
import { countUnmet, type Direction, type LinkRequest, type TaskLinks } from './dependencies.ts';
import { READY, type Task, type TokenedTask, WAITING } from './record.ts';
import type { UpdateInput } from './schema.ts';
import { isOpen } from './workflows.ts';

/**
 * Follows links inside the database, because each round trip to PostgreSQL is expensive. Every step is an index lookup
 * of one task; neither engine uses the index for the view task_waits inside a recursive query.
 */
export async function readLinks(
  db: Reader,
  { direction, from, maxTasks, maxLinks }: LinkRequest,
): Promise<TaskLinks[]> {
  // Sent together: one round trip.
  const [, rows] = await Promise.all([
    useIndexes(db),
    db.query<{ task_no: number; linked: string }>(STATEMENTS[db.engine][direction], [
      maxLinks + 1,
      JSON.stringify(from),
      maxTasks,
    ]),
  ]);
  return rows.map(({ task_no, linked }) => ({ taskNo: task_no, linked: parseJson(linked) as number[] }));
}

/** Throws if one of the tasks does not exist. Returns which of them, and of `others`, are open. */
export async function requireTasks(
  db: Reader,
  taskIds: readonly string[],
  others: readonly string[] = [],
): Promise<ReadonlySet<string>> {
  if (taskIds.length + others.length === 0) return new Set();
  const rows = await db.query<{ task_no: number; is_open: number }>(
    `SELECT task_no, is_open FROM tasks WHERE task_no IN (${numbers(db.engine, '$1')})`,
    [JSON.stringify([...taskIds, ...others].map(taskNumber))],
  );
  const isOpenTask = new Map(rows.map(({ task_no, is_open }) => [formatTaskId(task_no), is_open === 1]));
  const missing = taskIds.find((id) => !isOpenTask.has(id));
  if (missing !== undefined) throw taskNotFound(missing);
  return new Set([...isOpenTask.keys()].filter((id) => isOpenTask.get(id)));
}

export function taskNotFound(taskId: string): ColibriError {
  const advice = 'call task_list to see existing tasks';
  return new ColibriError('ERR_NOT_FOUND', `no task ${taskId}`, { taskId }, { advice });
}

/** Requires the tasks that a change names. Returns how many links of the changed task lead to open ones. */
export async function readUnmet(
  db: Reader,
  { task: before, unmet }: TokenedTask,
  after: Task,
  { parent_id, depends_on }: Pick<UpdateInput, 'parent_id' | 'depends_on'>,
): Promise<number> {
  const dropped = depends_on === undefined ? [] : before.depends_on;
  const openTasks = await requireTasks(db, [parent_id ?? [], depends_on ?? []].flat(), dropped);
  if (!isOpen(after.status)) return 0;
  return unmet - countUnmet(before.depends_on, openTasks) + countUnmet(after.depends_on, openTasks);
}

/** The row of a task whose own dependencies or status change. */
export function storeUnmet(db: Transaction, taskNo: number, before: number, after: number): void {
  if (after === before) return;
  if (after === 0) db.send('DELETE FROM task_unmet WHERE task_no = $1', [taskNo]);
  else if (before === 0) db.send('INSERT INTO task_unmet (task_no, unmet) VALUES ($1, $2)', [taskNo, after]);
  else db.send('UPDATE task_unmet SET unmet = $2 WHERE task_no = $1', [taskNo, after]);
}

/** An open task becomes a child. A closed parent waits for nothing. */
export function addChild(db: Transaction, parentId: string): void {
  const parentNo = parseId(parentId);
  db.send(
    `INSERT INTO task_unmet (task_no, unmet) SELECT task_no, 1 FROM tasks WHERE task_no = $1 AND is_open = 1
     ON CONFLICT (task_no) DO UPDATE SET unmet = task_unmet.unmet + 1`,
    [parentNo],
  );
  db.send(`UPDATE tasks SET is_ready = ${WAITING} WHERE task_no = $1 AND is_ready = ${READY}`, [parentNo]);
}

/** An open task leaves its parent. */
export function removeChild(db: Transaction, parentId: string): void {
  removeLinks(db, { waiting: 'SELECT CAST($1 AS BIGINT)', links: '1' }, [parseId(parentId)]);
}

/** A task is closed: those that depend on it, and its parent, no longer wait for it. */
export function removeAwaited(db: Transaction, taskNo: number, parentId: string | null): void {
  removeLinks(db, OF_CLOSED, [taskNo, parentId === null ? null : parseId(parentId)]);
}

interface RemovedLinks {
  /** Selects the numbers of the tasks that lose links. */
  readonly waiting: string;
  /** How many a task loses. */
  readonly links: string;
}

/** A parent may also depend on its child. */
const OF_CLOSED: RemovedLinks = {
  waiting: 'SELECT task_no FROM task_dependencies WHERE depends_on = $1 UNION ALL SELECT CAST($2 AS BIGINT)',
  links: `CASE WHEN task_no = $2
      AND (SELECT 1 FROM task_dependencies AS other WHERE other.task_no = $2 AND other.depends_on = $1) IS NOT NULL
    THEN 2 ELSE 1 END`,
};

/**
 * The cost grows with the number of tasks that lose links. The first two statements look for tasks that lose their last
 * ones, so that neither depends on seeing the other's change: PostgreSQL may run them as one statement.
 */
function removeLinks(db: Transaction, { waiting, links }: RemovedLinks, parameters: readonly (number | null)[]): void {
  const { among } = dialectOf(db);
  const loses = among('task_no', waiting);
  const losesLast = `${loses} AND unmet = ${links}`;
  // `+ 0` keeps both engines from reading all tasks that wait.
  db.send(
    `UPDATE tasks SET is_ready = ${READY}
     WHERE ${among('task_no', `SELECT task_no FROM task_unmet WHERE ${losesLast}`)} AND is_ready + 0 = ${WAITING}`,
    parameters,
  );
  db.send(`DELETE FROM task_unmet WHERE ${losesLast}`, parameters);
  db.send(`UPDATE task_unmet SET unmet = unmet - ${links} WHERE ${loses}`, parameters);
}

/** PostgreSQL may cache a plan from when the tables were small, and would then scan them at every step. */
async function useIndexes(db: Reader): Promise<void> {
  if (db.engine === 'postgres') await db.query('SET LOCAL enable_seqscan = off');
}

const LINKED: Readonly<Record<Direction, string>> = {
  awaited: `SELECT depends_on AS no FROM task_dependencies WHERE task_no = run.no
     UNION ALL SELECT task_no FROM tasks WHERE parent_no = run.no LIMIT $1`,
  waiting: `SELECT task_no AS no FROM task_dependencies WHERE depends_on = run.no
     UNION ALL SELECT parent_no FROM tasks WHERE task_no = run.no AND parent_no IS NOT NULL LIMIT $1`,
};

/** A JSON list of numbers as a subquery. */
function numbers(engine: Engine, parameter: string): string {
  return engine === 'sqlite'
    ? `SELECT value FROM json_each(${parameter})`
    : `SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(${parameter} AS JSON)) AS value`;
}

/** SQLite has no LATERAL; a JSON list takes its place. */
function inSqlite(linked: string): string {
  const list = `(SELECT json_group_array(no) FROM (${linked}))`;
  return `WITH RECURSIVE run (no) AS (
     ${numbers('sqlite', '$2')}
     UNION
     SELECT link.value FROM run CROSS JOIN json_each(${list}) AS link
     LIMIT $3
   )
   SELECT run.no AS task_no, ${list} AS linked FROM run`;
}

/** The LIMIT inside LATERAL stops the planner from turning the lookups into a join over whole tables. */
function inPostgres(linked: string): string {
  return `WITH RECURSIVE run (no) AS (
     ${numbers('postgres', '$2')}
     UNION
     SELECT link.no FROM run CROSS JOIN LATERAL (${linked}) AS link
   )
   SELECT run.no AS task_no, (SELECT CAST(COALESCE(json_agg(no), '[]') AS TEXT) FROM (${linked}) AS link) AS linked
   FROM (SELECT no FROM run LIMIT $3) AS run`;
}

const STATEMENTS: Readonly<Record<Engine, Readonly<Record<Direction, string>>>> = {
  sqlite: { awaited: inSqlite(LINKED.awaited), waiting: inSqlite(LINKED.waiting) },
  postgres: { awaited: inPostgres(LINKED.awaited), waiting: inPostgres(LINKED.waiting) },
};
