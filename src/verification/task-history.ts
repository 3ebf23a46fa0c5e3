import type { Reader } from '../db/database.ts';
import type { Task } from '../domains/tasks/record.ts';
import { type LoggedVersion, listVersions } from '../domains/tasks/versions.ts';
import { parseId } from '../ids.ts';
import { type Entry, isOfEvent, parseEntry, parseJson, storedDigest } from '../integrity/index.ts';
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

/** The event itself says these. */
const IMPLIED = new Set(['updated_at', 'updated_by']);

/** Who changed a task, when and how, with each version checked against the log. */
export async function readHistory(anyDb: Reader, { task_id }: Task): Promise<TaskHistory> {
  const db = strictReader(anyDb);
  const leaves = new LeafCheck(db);
  const events: TaskEvent[] = [];
  const problems: { record: string; problem: string }[] = [];
  let before: Partial<Task> | undefined;
  const versions = await listVersions(db, parseId(task_id));
  for (const version of versions) {
    const entry = parseEntry(version.entry ?? '');
    const after = parseContent(version.content ?? '');
    const record = `entry ${version.idx}`;
    if (entry === undefined || !isLogged(version, entry, task_id)) {
      problems.push({ record, problem: 'its stored content is not what the log says' });
      if (version === versions.at(-1))
        problems.push({ record: task_id, problem: 'it is not what its last change made it' });
    }
    if (!(await leaves.holds(version.idx))) problems.push({ record, problem: 'it does not match the tree above it' });
    events.push({
      idx: version.idx,
      kind: entry?.kind ?? 'unknown',
      at: entry?.at ?? '',
      by: entry?.actor ?? '',
      changes: before === undefined ? [] : changesBetween(before, after),
      status: after.status ?? 'unknown',
      sessions: sessionsOf(entry),
    });
    before = after;
  }
  if (events[0]?.kind !== 'task.created') problems.push({ record: task_id, problem: 'its creation is missing' });
  return { events, problems };
}

function isLogged({ salt, content }: LoggedVersion, entry: Entry, taskId: string): boolean {
  const isSame = entry['task'] === storedDigest('task', salt, content) && entry['task_id'] === taskId;
  return isSame && isOfEvent(entry, content ?? '');
}

/** The fields of a stored version; none if it cannot be read. */
export function parseContent(content: string): Partial<Task> {
  try {
    const value: unknown = parseJson(content);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** The fields that differ between two versions of a task. */
export function changesBetween(before: Partial<Task>, after: Partial<Task>): Change[] {
  const [old, now] = [
    new Map<string, unknown>(Object.entries(before)),
    new Map<string, unknown>(Object.entries(after)),
  ];
  // A content omits some fields that are null.
  return [...new Set([...now.keys(), ...old.keys()])]
    .map((field) => ({ field, from: old.get(field) ?? null, to: now.get(field) ?? null }))
    .filter(({ field, from, to }) => !IMPLIED.has(field) && JSON.stringify(to) !== JSON.stringify(from));
}

function sessionsOf(entry: Entry | undefined): string[] {
  const sessions = entry?.['sessions'];
  return Array.isArray(sessions)
    ? sessions.map((session) => String((session as { session_id: unknown }).session_id))
    : [];
}
