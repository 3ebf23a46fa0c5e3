import type { Reader } from '../../db/database.ts';
import { parseId } from '../../ids.ts';
import type { SessionRow } from './sessions.ts';

/** The sessions of a task, those with a thought about it, and those in `joined`; oldest first. */
export async function listTaskSessions(db: Reader, taskNo: number, joined: readonly string[]): Promise<SessionRow[]> {
  const places = joined.map((_, index) => `$${index + 2}`).join(', ');
  return db.query<SessionRow>(
    `SELECT * FROM sessions
     WHERE task_no = $1 OR session_no IN (SELECT session_no FROM thoughts WHERE task_no = $1)
     ${joined.length === 0 ? '' : `OR session_no IN (${places})`}
     ORDER BY session_no`,
    [taskNo, ...joined.map(parseId)],
  );
}
