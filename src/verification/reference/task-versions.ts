import type { Reader } from '../../db/database.ts';
import type { Task } from '../../domains/tasks/record.ts';
import type { Report } from '../report.ts';

/** What no change of a task changes. */
const IMMUTABLE = ['created_at', 'created_by', 'project', 'sequence', 'workflow'] as const;

const SUPERSEDED = `
  SELECT task_events.idx, ${IMMUTABLE.map((field) => `tasks.${field}`).join(', ')}
  FROM task_events JOIN tasks ON tasks.task_no = task_events.task_no
  WHERE task_events.idx >= $1 AND task_events.idx < $2 AND tasks.event_idx <> task_events.idx`;

/** Earlier versions against the task of today, which is itself compared with its last version: so all agree. */
export async function checkImmutable(
  reader: Reader,
  begin: number,
  end: number,
  versions: ReadonlyMap<number, Task>,
  report: Report,
): Promise<void> {
  if (versions.size === 0) return;
  const rows = await reader.query<Pick<Task, (typeof IMMUTABLE)[number]> & { idx: number }>(SUPERSEDED, [begin, end]);
  for (const row of rows) {
    const version = versions.get(row.idx);
    const changed = version === undefined ? [] : IMMUTABLE.filter((field) => version[field] !== row[field]);
    if (changed.length > 0) report(`task event ${row.idx}`, `differs from its task in ${changed.join(', ')}`);
  }
}
