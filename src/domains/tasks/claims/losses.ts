import type { Reader } from '../../../db/database.ts';
import { formatTaskId } from '../../../ids.ts';
import { parseEntry } from '../../../integrity/index.ts';
import { taskFields } from '../record.ts';
import { listVersions } from '../versions.ts';
import { isFreeStatus } from '../workflows.ts';
import type { ClaimEvent } from './rules.ts';

/**
 * A task that was taken over from an actor that has not claimed it again. A finished one counts until its next call.
 */
export interface Loss {
  readonly task_id: string;
  readonly title: string;
  readonly actor: string;
  readonly taken_by: string;
}

export interface Losses {
  readonly losses: readonly Loss[];
  /** True if there are more tasks that were taken over than were read. */
  readonly truncated: boolean;
}

/** Every task takes two queries and as long as it has versions. */
export const MAX_REPLAYED = 100;

/** Finished tasks that were taken over have no index, so only those that changed lately are found. */
const SEARCHED_TASKS = 500;

interface TakenTask {
  readonly task_no: number;
  readonly title: string;
  readonly is_open: number;
}

/** The losses among the tasks that were taken over, last changed task first, also those before another takeover. */
export async function listLosses(db: Reader, limit = MAX_REPLAYED): Promise<Losses> {
  const open = await db.query<TakenTask>(
    `SELECT task_no, title, is_open FROM tasks WHERE taken_from IS NOT NULL AND is_open = 1
     ORDER BY updated_at DESC, task_no LIMIT $1`,
    [limit + 1],
  );
  const finished = await db.query<TakenTask>(
    `SELECT task_no, title, is_open FROM (
       SELECT task_no, title, is_open, taken_from, updated_at FROM tasks
       ORDER BY updated_at DESC, task_no DESC LIMIT ${SEARCHED_TASKS}
     ) AS newest
     WHERE taken_from IS NOT NULL AND is_open = 0 ORDER BY updated_at DESC, task_no LIMIT $1`,
    [limit + 1],
  );
  const tasks = [...open, ...finished];
  const lastCalls = await readLastCalls(db);
  const losses: Loss[] = [];
  for (const { task_no, title, is_open } of tasks.slice(0, limit))
    for (const [actor, { by, token }] of await lossesOf(db, task_no))
      if (is_open === 1 || token > (lastCalls.get(actor) ?? Number.POSITIVE_INFINITY))
        losses.push({ task_id: formatTaskId(task_no), title, actor, taken_by: by });
  return { losses, truncated: tasks.length > limit };
}

async function readLastCalls(db: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ actor: string; last: number }>(
    'SELECT actor, MAX(sequence_no) AS last FROM presence GROUP BY actor',
  );
  return new Map(rows.map(({ actor, last }) => [actor, last]));
}

/** The takeover from each former holder that has not claimed the task again since the task was last free. */
export async function lossesOf(db: Reader, taskNo: number): Promise<ReadonlyMap<string, ClaimEvent>> {
  const losses = new Map<string, ClaimEvent>();
  let holder: string | null = null;
  for (const { idx, content, entry: text } of await listVersions(db, taskNo)) {
    const entry = parseEntry(text ?? '');
    if (content === null || entry === undefined) continue;
    const version = taskFields.fromContent(content);
    if (holder !== null && holder !== entry.actor && version.taken_from === holder)
      losses.set(holder, { by: entry.actor, at: entry.at, token: idx });
    if (isFreeStatus(version.status)) losses.clear();
    holder = version.holder;
    if (holder !== null) losses.delete(holder);
  }
  return losses;
}
