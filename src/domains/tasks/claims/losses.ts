import type { Reader } from '../../../db/database.ts';
import { formatTaskId } from '../../../ids.ts';
import { parseEntry } from '../../../integrity/index.ts';
import { taskFields } from '../record.ts';
import { listVersions } from '../versions.ts';
import { isFreeStatus } from '../workflows.ts';

/** A task that was taken over from an actor that has not claimed it again. */
export interface Loss {
  readonly task_id: string;
  readonly title: string;
  readonly actor: string;
  readonly taken_by: string;
}

/** The losses of every actor among the open tasks, last changed task first, also those before another takeover. */
export async function listLosses(db: Reader): Promise<Loss[]> {
  const tasks = await db.query<{ task_no: number; title: string }>(
    'SELECT task_no, title FROM tasks WHERE taken_from IS NOT NULL AND is_open = 1 ORDER BY updated_at DESC, task_no',
  );
  const losses: Loss[] = [];
  for (const { task_no, title } of tasks)
    for (const [actor, taken_by] of await lossesOf(db, task_no))
      losses.push({ task_id: formatTaskId(task_no), title, actor, taken_by });
  return losses;
}

/** Who took the task from each former holder, since the task was last free. */
async function lossesOf(db: Reader, taskNo: number): Promise<ReadonlyMap<string, string>> {
  const losses = new Map<string, string>();
  let holder: string | null = null;
  for (const { content, entry } of await listVersions(db, taskNo)) {
    const by = parseEntry(entry ?? '')?.actor;
    if (content === null || by === undefined) continue;
    const version = taskFields.fromContent(content);
    if (holder !== null && holder !== by && version.taken_from === holder) losses.set(holder, by);
    if (isFreeStatus(version.status)) losses.clear();
    holder = version.holder;
    if (holder !== null) losses.delete(holder);
  }
  return losses;
}
