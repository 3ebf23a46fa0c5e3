import type { Reader } from '../db/database.ts';
import { type Task, taskFields } from '../domains/tasks/record.ts';
import { findTask } from '../domains/tasks/repository.ts';
import { parseId } from '../ids.ts';
import { type Entry, parseEntry, parseJson, storedDigest } from '../integrity/index.ts';
import { isAfter } from '../ledger/cursor.ts';
import { isOfEvent } from './chain-check.ts';
import { LeafCheck } from './leaf-check.ts';
import { strictReader } from './strict-reader.ts';

export interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** One change of a task, as the log has it. */
export interface TaskEvent {
  readonly idx: number;
  readonly kind: string;
  readonly at: string;
  readonly by: string;
  /** Empty for the creation. */
  readonly changes: readonly Change[];
  /** The status after it. */
  readonly status: string;
  readonly sessions: readonly string[];
}

export interface TaskHistory {
  /** Oldest first. */
  readonly events: readonly TaskEvent[];
  readonly problems: readonly { readonly record: string; readonly problem: string }[];
}

interface EventRow {
  readonly idx: number;
  readonly salt: string;
  readonly content: string;
  readonly entry: string | null;
}

/** The event itself says these. */
const IMPLIED = new Set(['updated_at', 'updated_by']);

/** Who changed a task, when and how, with each change held against the log and the last one against the task itself. */
export async function readHistory(anyDb: Reader, { task_id }: Task): Promise<TaskHistory> {
  const db = strictReader(anyDb);
  const leaves = new LeafCheck(db);
  const events: TaskEvent[] = [];
  const problems: { record: string; problem: string }[] = [];
  let before: Partial<Task> | undefined;
  let lastContent = '';
  for (const row of await listEvents(db, parseId(task_id))) {
    const entry = parseEntry(row.entry ?? '');
    const after = parseContent(row.content);
    const record = `entry ${row.idx}`;
    if (entry === undefined || !isLogged(row, entry, task_id)) {
      problems.push({ record, problem: 'its stored content is not what the log says' });
    }
    if (!(await leaves.holds(row.idx))) problems.push({ record, problem: 'it does not match the tree above it' });
    events.push({
      idx: row.idx,
      kind: entry?.kind ?? 'unknown',
      at: entry?.at ?? '',
      by: entry?.actor ?? '',
      changes: before === undefined ? [] : changesBetween(before, after),
      status: after.status ?? 'unknown',
      sessions: sessionsOf(entry),
    });
    before = after;
    lastContent = row.content;
  }
  if (events[0]?.kind !== 'task.created') problems.push({ record: task_id, problem: 'its creation is missing' });
  if (lastContent !== (await storedContent(db, task_id))) {
    problems.push({ record: task_id, problem: 'it is not what its last change made it' });
  }
  return { events, problems };
}

/** The task as it is stored now. The caller's may have come through a driver that hides part of a text. */
async function storedContent(db: Reader, taskId: string): Promise<string | undefined> {
  try {
    const task = await findTask(db, taskId);
    return task && taskFields.toContent(task);
  } catch {
    return undefined;
  }
}

const WINDOW = 50_000;

/** Backwards from the last change to the creation: no index leads to the changes between, and none is paid for. */
async function listEvents(db: Reader, taskNo: number): Promise<EventRow[]> {
  const [task] = await db.query<{ event_idx: number }>('SELECT event_idx FROM tasks WHERE task_no = $1', [taskNo]);
  const last = task !== undefined && Number.isSafeInteger(task.event_idx) ? task.event_idx : undefined;
  const found: EventRow[] = [];
  // By rows: a forged index could be so far away that a search by indexes would never arrive here.
  for (let before = last === undefined ? Number.MAX_SAFE_INTEGER : last + 1; ; ) {
    const [window] = await db.query<{ first: number | null }>(
      `SELECT MIN(idx) AS first FROM (SELECT idx FROM task_events WHERE idx < $1 ORDER BY idx DESC LIMIT $2) AS rows`,
      [before, WINDOW],
    );
    const first = window?.first ?? null;
    if (first === null || !isAfter([before], [first])) break;
    found.push(
      ...(await db.query<EventRow>(
        `SELECT task_events.idx, salt, content, ledger_entries.entry FROM task_events
         LEFT JOIN ledger_entries ON ledger_entries.idx = task_events.idx
         WHERE task_events.idx >= $1 AND task_events.idx < $2 AND task_no = $3 ORDER BY task_events.idx DESC`,
        [first, before, taskNo],
      )),
    );
    if (parseEntry(found.at(-1)?.entry ?? '')?.kind === 'task.created') break;
    before = first;
  }
  return found.reverse();
}

function isLogged({ salt, content }: EventRow, entry: Entry, taskId: string): boolean {
  const isSame = entry['task'] === storedDigest('task', salt, content) && entry['task_id'] === taskId;
  return isSame && isOfEvent(entry, content);
}

function parseContent(content: string): Partial<Task> {
  try {
    const value: unknown = parseJson(content);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function changesBetween(before: Partial<Task>, after: Partial<Task>): Change[] {
  const old = new Map(Object.entries(before));
  return Object.entries(after)
    .filter(([field, to]) => !IMPLIED.has(field) && JSON.stringify(to) !== JSON.stringify(old.get(field)))
    .map(([field, to]) => ({ field, from: old.get(field), to }));
}

function sessionsOf(entry: Entry | undefined): string[] {
  const sessions = entry?.['sessions'];
  return Array.isArray(sessions)
    ? sessions.map((session) => String((session as { session_id: unknown }).session_id))
    : [];
}
