import type { Reader } from '../db/database.ts';
import type { Task } from '../domains/tasks/record.ts';
import { type LoggedVersion, listVersions } from '../domains/tasks/versions.ts';
import { parseId } from '../ids.ts';
import { type Entry, isOfEvent, isWithoutText, parseEntry, parseJson, storedDigest } from '../integrity/index.ts';
import { LeafCheck } from './leaf-check.ts';
import { type LoggedRedaction, RedactionFinder } from './redactions/finder.ts';
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
  /** Changes whose texts people have removed. */
  readonly redacted: number;
  readonly problems: readonly { readonly record: string; readonly problem: string }[];
}

/** The event itself says these. */
const IMPLIED = new Set(['updated_at', 'updated_by']);

/** The history of a task: the actor, time and fields of each change, with each version checked against the log. */
export async function readHistory(anyDb: Reader, { task_id }: Task): Promise<TaskHistory> {
  const db = strictReader(anyDb);
  const leaves = new LeafCheck(db);
  const redactions = new RedactionFinder(db);
  const events: TaskEvent[] = [];
  const problems: { record: string; problem: string }[] = [];
  let before: Partial<Task> | undefined;
  let redacted = 0;
  const versions = await listVersions(db, parseId(task_id));
  for (const version of versions) {
    const entry = parseEntry(version.entry ?? '');
    const after = parseContent(version.content ?? '');
    const record = `entry ${version.idx}`;
    const redaction = await redactions.find(version.idx);
    if (redaction !== undefined) redacted += 1;
    if (entry === undefined || !isLogged(version, entry, task_id, redaction)) {
      problems.push({ record, problem: 'its stored content differs from the log' });
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
  return { events, redacted, problems };
}

function isLogged(
  { salt, content }: LoggedVersion,
  entry: Entry,
  taskId: string,
  redaction: LoggedRedaction | undefined,
): boolean {
  const logged = redaction === undefined ? entry['task'] : redaction.remains;
  const isSame = logged === storedDigest('task', salt, content) && entry['task_id'] === taskId;
  const isClean = redaction === undefined || isWithoutText(content ?? '', redaction.note);
  return isSame && isOfEvent(entry, content ?? '') && isClean;
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
