import type { Reader } from '../../db/database.ts';
import type { Salt } from '../../integrity/index.ts';
import { type TaskRow, taskFields } from './record.ts';

/** A version of a task as it is stored: the current one in `tasks`, earlier ones in `task_versions`. */
export interface StoredVersion {
  readonly idx: number;
  readonly task_no: number;
  readonly salt: Salt;
  /** Null if the stored row cannot be read as a task, which only tampering causes. */
  readonly content: string | null;
}

export interface LoggedVersion extends StoredVersion {
  /** Null if the log has no such entry. */
  readonly entry: string | null;
}

/** All versions of a task with their entries, oldest first; the current one is the last, if there is a task. */
export async function listVersions(db: Reader, taskNo: number): Promise<LoggedVersion[]> {
  const earlier = await db.query<LoggedVersion>(
    `SELECT task_versions.*, ledger_entries.entry
     FROM task_versions LEFT JOIN ledger_entries ON ledger_entries.idx = task_versions.idx
     WHERE task_versions.task_no = $1 ORDER BY task_versions.idx`,
    [taskNo],
  );
  const current = await db.query<TaskRow & { entry: string | null }>(
    `SELECT tasks.*, ledger_entries.entry FROM tasks LEFT JOIN ledger_entries ON ledger_entries.idx = tasks.event_idx
     WHERE tasks.task_no = $1`,
    [taskNo],
  );
  return [...earlier, ...current.map((row) => ({ ...currentVersion(row), entry: row.entry }))];
}

/** The version that a row of `tasks` is. */
export function currentVersion(row: TaskRow): StoredVersion {
  const { event_idx: idx, task_no, salt } = row;
  try {
    return { idx, task_no, salt, content: taskFields.toContent(taskFields.fromRow(row)) };
  } catch {
    return { idx, task_no, salt, content: null };
  }
}

/** One text of the statement for any number of tasks. */
const ROWS_AT_ONCE = 64;
const IN = Array.from({ length: ROWS_AT_ONCE }, (_, place) => `$${place + 1}`).join(', ');

export async function listCurrentRows(db: Reader, taskNos: readonly number[]): Promise<TaskRow[]> {
  const rows: TaskRow[] = [];
  for (let first = 0; first < taskNos.length; first += ROWS_AT_ONCE) {
    const wanted = Array.from(
      { length: ROWS_AT_ONCE },
      (_, place) => taskNos[first + place] ?? (taskNos[first] as number),
    );
    rows.push(...(await db.query<TaskRow>(`SELECT * FROM tasks WHERE task_no IN (${IN})`, wanted)));
  }
  return rows;
}
