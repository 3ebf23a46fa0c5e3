import type { Reader } from '../../db/database.ts';
import { formatTaskId, storedId } from '../../ids.ts';
import { parseEntry, parseJson } from '../../integrity/index.ts';
import { isAfter } from '../../ledger/cursor.ts';
import type { Report } from '../report.ts';

/** Names orphan rows. Called only when the totals differ, because these queries scan whole tables. */

/** Bounds the report: a forger can add a million rows. */
const MAX_NAMED = 10;

export async function reportOrphanEvents(reader: Reader, size: number, report: Report): Promise<void> {
  const events = await reader.query<{ idx: number }>(
    'SELECT idx FROM task_versions WHERE idx < 0 OR idx >= $1 ORDER BY idx LIMIT $2',
    [size, MAX_NAMED],
  );
  for (const { idx } of events) report(`task event ${idx}`, 'has no entry');
}

/** Tasks whose entry is missing or belongs to another task. */
export async function reportOrphanTasks(reader: Reader, report: Report): Promise<void> {
  const named = countdown();
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await reader.query<{ task_no: number; event_idx: number; entry: string | null }>(
      `SELECT task_no, event_idx, entry FROM tasks LEFT JOIN ledger_entries ON ledger_entries.idx = tasks.event_idx
       WHERE task_no > $1 ORDER BY task_no LIMIT $2`,
      [last, PAGE],
    );
    for (const { task_no, event_idx, entry } of rows) {
      const logged = parseEntry(entry ?? '');
      const isOwn = logged?.kind.startsWith('task.') && logged['task_id'] === storedId(formatTaskId, task_no);
      if (!isOwn && named()) report(formatTaskId(task_no), `names event ${event_idx}, which is not one of its own`);
    }
    const next = rows.at(-1)?.task_no;
    if (next === undefined || !isAfter([next], [last])) return;
    last = next;
  }
}

const PAGE = 1000;

/** Rows of task_labels that the task does not list. */
export async function reportOrphanLabels(reader: Reader, report: Report): Promise<void> {
  const named = countdown();
  let last = { label: '', task_no: 0 };
  for (;;) {
    const rows = await reader.query<{ label: string; task_no: number; labels: string | null }>(
      `SELECT task_labels.label, task_labels.task_no, tasks.labels
       FROM task_labels LEFT JOIN tasks ON tasks.task_no = task_labels.task_no
       WHERE (task_labels.label, task_labels.task_no) > ($1, $2)
       ORDER BY task_labels.label, task_labels.task_no LIMIT $3`,
      [last.label, last.task_no, PAGE],
    );
    for (const { label, task_no, labels } of rows) {
      if (!isListed(labels, label) && named())
        report(formatTaskId(task_no), `is listed under label ${label} and does not have it`);
    }
    const next = rows.at(-1);
    if (next === undefined || !isAfter([next.label, next.task_no], [last.label, last.task_no])) return;
    last = next;
  }
}

/** Rows of task_dependencies that the task does not list. */
export async function reportOrphanDependencies(reader: Reader, report: Report): Promise<void> {
  const named = countdown();
  let last = { task_no: 0, depends_on: 0 };
  for (;;) {
    const rows = await reader.query<{ task_no: number; depends_on: number; listed: string | null }>(
      `SELECT task_dependencies.task_no, task_dependencies.depends_on, tasks.depends_on AS listed
       FROM task_dependencies LEFT JOIN tasks ON tasks.task_no = task_dependencies.task_no
       WHERE (task_dependencies.task_no, task_dependencies.depends_on) > ($1, $2)
       ORDER BY task_dependencies.task_no, task_dependencies.depends_on LIMIT $3`,
      [last.task_no, last.depends_on, PAGE],
    );
    for (const { task_no, depends_on, listed } of rows) {
      const dependency = formatTaskId(depends_on);
      if (!isListed(listed, dependency) && named())
        report(formatTaskId(task_no), `is linked to ${dependency} and does not depend on it`);
    }
    const next = rows.at(-1);
    if (next === undefined || !isAfter([next.task_no, next.depends_on], [last.task_no, last.depends_on])) return;
    last = next;
  }
}

function countdown(): () => boolean {
  let left = MAX_NAMED;
  return () => left-- > 0;
}

/** The stored list may have been forged into something other than a list. */
function isListed(json: string | null, wanted: string): boolean {
  try {
    const list: unknown = parseJson(json ?? '[]');
    return Array.isArray(list) && list.includes(wanted);
  } catch {
    return false;
  }
}
