import type { Engine, Reader } from '../../db/database.ts';
import { formatTaskId, taskNumber } from '../../ids.ts';
import { parseJson } from '../../integrity/index.ts';
import type { Direction, LinkRequest, TaskLinks } from './dependencies.ts';

/**
 * Follows links inside the database, because each round trip to PostgreSQL is expensive. Every step is an index lookup of
 * one task; neither engine uses the index for the view task_waits inside a recursive query.
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

/** Returns the first id without a task. */
export async function findMissing(db: Reader, taskIds: readonly string[]): Promise<string | undefined> {
  if (taskIds.length === 0) return undefined;
  const rows = await db.query<{ task_no: number }>(
    `SELECT task_no FROM tasks WHERE task_no IN (${numbers(db.engine, '$1')})`,
    [JSON.stringify(taskIds.map(taskNumber))],
  );
  const found = new Set(rows.map(({ task_no }) => formatTaskId(task_no)));
  return taskIds.find((id) => !found.has(id));
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
