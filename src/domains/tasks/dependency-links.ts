import type { Engine, Reader } from '../../db/database.ts';
import { formatTaskId, parseId } from '../../ids.ts';
import { parseJson } from '../../integrity/index.ts';
import type { Direction, LinkRequest, TaskLinks } from './dependencies.ts';

/**
 * Follows links inside the engine, because on PostgreSQL the number of round trips decides. Every step looks up one task
 * in an index; neither engine does so for the view task_waits inside a recursive query.
 */
export async function readLinks(
  db: Reader,
  { direction, from, maxTasks, maxLinks }: LinkRequest,
): Promise<TaskLinks[]> {
  // Together, because both fit into one round trip.
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

/** The first of the tasks that does not exist. */
export async function findMissing(db: Reader, taskIds: readonly string[]): Promise<string | undefined> {
  if (taskIds.length === 0) return undefined;
  const rows = await db.query<{ task_no: number }>(
    `SELECT task_no FROM tasks WHERE task_no IN (${numbers(db.engine, '$1')})`,
    [JSON.stringify(taskIds.map(parseId))],
  );
  const found = new Set(rows.map(({ task_no }) => formatTaskId(task_no)));
  return taskIds.find((id) => !found.has(id));
}

/** PostgreSQL keeps a plan that it made when the tables were small, and would scan them at every step when they are not. */
async function useIndexes(db: Reader): Promise<void> {
  if (db.engine === 'postgres') await db.query('SET LOCAL enable_seqscan = off');
}

const LINKED: Readonly<Record<Direction, string>> = {
  awaited: `SELECT depends_on AS no FROM task_dependencies WHERE task_no = run.no
     UNION ALL SELECT task_no FROM tasks WHERE parent_no = run.no LIMIT $1`,
  waiting: `SELECT task_no AS no FROM task_dependencies WHERE depends_on = run.no
     UNION ALL SELECT parent_no FROM tasks WHERE task_no = run.no AND parent_no IS NOT NULL LIMIT $1`,
};

/** A numbers list in JSON as a subquery. */
function numbers(engine: Engine, parameter: string): string {
  return engine === 'sqlite'
    ? `SELECT value FROM json_each(${parameter})`
    : `SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(${parameter} AS JSON)) AS value`;
}

/** SQLite has no LATERAL; a list in JSON does the same. */
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

/** The LIMIT inside LATERAL keeps the planner from turning the look-ups into one join over whole tables. */
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
