import type { Reader } from '../../db/database.ts';
import type { Task } from '../../domains/tasks/record.ts';
import { currentVersion, listCurrentRows } from '../../domains/tasks/versions.ts';
import { sessionNumber, taskNumber } from '../../ids.ts';
import { parseContent } from '../../verification/task-history.ts';
import { type EntryFields, readEntryFields } from './entry-fields.ts';
import type { DayRange } from './log-summary.ts';

interface Happened {
  readonly at: string;
  readonly actor: string;
}

/** The part of an entry that a note of a day shows. */
export type DayEvent = Happened &
  (
    | { readonly kind: 'task'; readonly task_no: number; readonly title: string; readonly status: string }
    | { readonly kind: 'decision'; readonly task_no: number; readonly type: string; readonly content: string }
    | { readonly kind: 'session'; readonly session_no: number; readonly what: 'opened' | 'sealed' }
    | { readonly kind: 'action' | 'commit' }
  );

const PAGE = 1000;

interface EntryRow {
  readonly idx: number;
  readonly entry: string;
  /** The version of a task that has a later one. */
  readonly version: string | null;
  readonly type: string | null;
  readonly content: string | null;
}

/** Yields the events in a part of the log, in its order. */
export async function* readDayEvents(db: Reader, { first, last }: DayRange): AsyncGenerator<DayEvent, void> {
  for (let next = first; next <= last; ) {
    const rows = await db.query<EntryRow>(
      `SELECT page.idx, page.entry, task_versions.content AS version, thoughts.type, thoughts.content
       FROM (SELECT idx, entry FROM ledger_entries WHERE idx BETWEEN $1 AND $2 AND entry NOT LIKE '%"kind":"action.%'
             ORDER BY idx LIMIT ${PAGE}) AS page
       LEFT JOIN task_versions ON task_versions.idx = page.idx
       LEFT JOIN thoughts ON thoughts.idx = page.idx
       ORDER BY page.idx`,
      [next, last],
    );
    yield* await describeRows(db, rows);
    if (rows.length < PAGE) return;
    next = (rows.at(-1)?.idx ?? last) + 1;
  }
}

async function describeRows(db: Reader, rows: readonly EntryRow[]): Promise<DayEvent[]> {
  const parsed = rows.flatMap((row) => {
    const entry = readEntryFields(row.entry);
    return entry === undefined ? [] : [{ row, entry }];
  });
  const current = parsed.flatMap(({ row, entry }) =>
    entry.kind.startsWith('task.') && row.version === null ? [taskNumber(textOf(entry['task_id']))] : [],
  );
  const versions = new Map(
    (await listCurrentRows(db, [...new Set(current)])).map((row) => [row.event_idx, currentVersion(row).content]),
  );
  return parsed.flatMap(({ row, entry }) => describe(entry, row, versions.get(row.idx) ?? null) ?? []);
}

function describe(entry: EntryFields, row: EntryRow, current: string | null): DayEvent | undefined {
  const { at, actor } = entry;
  const task_no = taskNumber(textOf(entry['task_id']));
  switch (entry.kind) {
    case 'task.created':
    case 'task.updated': {
      const { title = '', status = 'unknown' }: Partial<Task> = parseContent(row.version ?? current ?? '');
      return { kind: 'task', at, actor, task_no, title, status };
    }
    case 'thought':
      return { kind: 'decision', at, actor, task_no, type: row.type ?? 'thought', content: row.content ?? '' };
    case 'session.started':
    case 'session.finalized': {
      const session_no = sessionNumber(textOf(entry['session_id']));
      return { kind: 'session', at, actor, session_no, what: entry.kind === 'session.started' ? 'opened' : 'sealed' };
    }
    case 'observed':
      return { kind: 'action', at, actor };
    case 'observed.commit':
      return { kind: 'commit', at, actor };
    default:
      return undefined;
  }
}

/** Tampering can store any value. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
