import type { Reader } from '../../db/database.ts';
import { READY, WAITING } from '../../domains/tasks/record.ts';
import { formatTaskId } from '../../ids.ts';
import { isAfter } from '../../ledger/cursor.ts';
import { NumberColumn } from '../replay/number-column.ts';
import type { Report } from '../report.ts';
import { reportCycle, WaitGraph } from './task-cycles.ts';

const PAGE = 5000;
const LINKS = `SELECT link.depends_on, link.task_no, awaited.is_open + waiting.is_open AS open_ends
  FROM task_dependencies AS link
  LEFT JOIN tasks AS awaited ON awaited.task_no = link.depends_on
  LEFT JOIN tasks AS waiting ON waiting.task_no = link.task_no
  WHERE (link.depends_on, link.task_no) > ($1, $2) ORDER BY link.depends_on, link.task_no LIMIT ${PAGE}`;
const PARENTS = `SELECT child.task_no, child.parent_no, child.is_open + parent.is_open AS open_ends
  FROM tasks AS child LEFT JOIN tasks AS parent ON parent.task_no = child.parent_no
  WHERE child.task_no > $1 AND child.parent_no IS NOT NULL ORDER BY child.task_no LIMIT ${PAGE}`;
const UNMET = `SELECT task_no, unmet FROM task_unmet WHERE task_no > $1 ORDER BY task_no LIMIT ${PAGE}`;
/** A link counts while neither task is closed. */
const BOTH = 2;
const MAX_NAMED = 10;

/**
 * Reads every link once, to report a cycle and to compare what is stored about unmet links. `readiness` has the stored
 * `is_ready` of the tasks that are ready by their status.
 */
export async function checkLinks(
  reader: Reader,
  tasks: number,
  readiness: NumberColumn,
  report: Report,
): Promise<void> {
  const graph = new WaitGraph(tasks);
  const unmet = new NumberColumn();
  const add = (taskNo: number, openEnds: number | null) => {
    if (openEnds === BOTH && isTask(taskNo, tasks)) unmet.set(taskNo, unmet.get(taskNo) + 1);
  };
  for (let after = [0, 0]; ; ) {
    const rows = await reader.query<{ depends_on: number; task_no: number; open_ends: number | null }>(LINKS, after);
    for (const { depends_on, task_no, open_ends } of rows) {
      graph.depend(task_no, depends_on);
      add(task_no, open_ends);
    }
    const last = rows.at(-1);
    // An index that was tampered with may lead back; it is reported elsewhere.
    if (last === undefined || rows.length < PAGE || !isAfter([last.depends_on, last.task_no], after)) break;
    after = [last.depends_on, last.task_no];
  }
  for (let after = 0; ; ) {
    const rows = await reader.query<{ task_no: number; parent_no: number; open_ends: number | null }>(PARENTS, [after]);
    for (const { task_no, parent_no, open_ends } of rows) {
      graph.contain(parent_no, task_no);
      add(parent_no, open_ends);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE || !isAfter([last.task_no], [after])) break;
    after = last.task_no;
  }
  reportCycle(graph, report);
  reportReadiness(tasks, readiness, unmet, report);
  await checkUnmet(reader, tasks, unmet, report);
}

function reportReadiness(tasks: number, readiness: NumberColumn, unmet: NumberColumn, report: Report): void {
  for (let task = 1; task <= tasks; task += 1) {
    const stored = readiness.get(task);
    if (stored !== 0 && stored !== (unmet.get(task) > 0 ? WAITING : READY))
      report(formatTaskId(task), `has is_ready ${stored} and ${unmet.get(task)} unmet links`);
  }
}

/** Consumes `unmet`: what is left has no row. */
async function checkUnmet(reader: Reader, tasks: number, unmet: NumberColumn, report: Report): Promise<void> {
  let expectedRows = 0;
  for (let task = 1; task <= tasks; task += 1) if (unmet.get(task) > 0) expectedRows += 1;
  const [count] = await reader.query<{ total: number }>('SELECT COUNT(*) AS total FROM task_unmet');
  if (count?.total !== expectedRows)
    report('task_unmet', `has ${count?.total} rows where ${expectedRows} tasks have unmet links`);
  for (let after = 0; ; ) {
    const rows = await reader.query<{ task_no: number; unmet: number }>(UNMET, [after]);
    for (const row of rows) {
      const expected = isTask(row.task_no, tasks) ? unmet.get(row.task_no) : 0;
      if (row.unmet !== expected || expected === 0)
        report(formatTaskId(row.task_no), `is stored with ${row.unmet} unmet links instead of ${expected}`);
      if (expected !== 0) unmet.set(row.task_no, 0);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE || !isAfter([last.task_no], [after])) break;
    after = last.task_no;
  }
  let missing = 0;
  for (let task = 1; task <= tasks; task += 1)
    if (unmet.get(task) > 0) {
      missing += 1;
      if (missing <= MAX_NAMED) report(formatTaskId(task), `has no row for its ${unmet.get(task)} unmet links`);
    }
}

/** Rows of tasks that do not exist are reported, and must not decide how much memory is taken. */
function isTask(taskNo: number, tasks: number): boolean {
  return Number.isSafeInteger(taskNo) && taskNo >= 1 && taskNo <= tasks;
}
