import type { Reader } from '../../db/database.ts';
import { type Task, type TaskRow, taskFields, toColumns, WAITING } from '../../domains/tasks/record.ts';
import { currentVersion, listCurrentRows, type StoredVersion } from '../../domains/tasks/versions.ts';
import { formatTaskId, parseId, storedId } from '../../ids.ts';
import { type Entry, isTaskId, isWithoutText, PRIORITIES, storedDigest, taskDefect } from '../../integrity/index.ts';
import type { EntryRange, LoggedRedaction } from '../redactions/finder.ts';
import { NumberColumn } from '../replay/number-column.ts';
import type { HeldContent } from '../replay/replay.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';
import { checkLinks } from './task-links.ts';
import { reportOrphanDependencies, reportOrphanEvents, reportOrphanLabels, reportOrphanTasks } from './task-orphans.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

const VERSIONS = 'SELECT idx, task_no, salt, content FROM task_versions WHERE idx >= $1 AND idx < $2';

/** Compares every version of a task with its entry, and every table about tasks with the current versions. */
export class TaskCheck {
  readonly #reader: Reader;
  readonly #report: Report;
  readonly #onTask: (index: number, content: HeldContent) => void;
  readonly #totals = new Totals();

  /** `onTask` receives each task event whose content matches the log. */
  constructor(reader: Reader, report: Report, onTask: (index: number, content: HeldContent) => void) {
    this.#reader = reader;
    this.#report = report;
    this.#onTask = onTask;
  }

  async page(entries: readonly LoggedEntry[], { begin, end, redactions }: EntryRange): Promise<void> {
    const [reader, report, totals] = [this.#reader, this.#report, this.#totals];
    const logged = entries.filter(({ entry }) => entry.kind === 'task.created' || entry.kind === 'task.updated');
    const versionTwice = (index: number) => report(`task event ${index}`, STORED_TWICE);
    const earlier = indexRows(
      await reader.query<StoredVersion>(VERSIONS, [begin, end]),
      ({ idx }) => idx,
      versionTwice,
    );
    const taskTwice = (taskNo: number) => report(formatTaskId(taskNo), STORED_TWICE);
    const rows = await listCurrentRows(reader, [...new Set(logged.flatMap(({ entry }) => taskNoOf(entry)))]);
    const tasks = indexRows(rows, ({ task_no }) => task_no, taskTwice);
    for (const { index, entry } of logged) {
      totals.events += 1;
      if (entry.kind === 'task.created') totals.created += 1;
      const [taskNo = -1] = taskNoOf(entry);
      const row = tasks.get(taskNo);
      const isCurrent = row?.event_idx === index;
      const kept = earlier.get(index);
      earlier.delete(index);
      const taskId = taskNo === -1 ? `task event ${index}` : formatTaskId(taskNo);
      if (!isCurrent) checkSuperseded(index, taskId, row, report);
      else if (kept !== undefined) report(`task event ${index}`, 'is current and is also stored as an earlier version');
      const version = isCurrent ? currentVersion(row) : kept;
      if (version === undefined) report(`task event ${index}`, 'is missing');
      const place = isCurrent ? taskId : `task event ${index}`;
      const task = version && readTask(place, version, { entry, redaction: redactions.get(index) }, report);
      if (task === undefined) {
        if (isCurrent) totals.addUnproven(row);
        continue;
      }
      this.#onTask(index, isCurrent ? { task, claimIdx: row.claim_idx } : { task });
      totals.addGroup(task);
      if (isCurrent) await checkCurrent(reader, task, row, totals, report);
      else if (row !== undefined) checkImmutable(index, task, row, report);
    }
    for (const index of earlier.keys()) report(`task event ${index}`, 'has no entry');
  }

  async finish(size: number): Promise<void> {
    await reportOrphanEvents(this.#reader, size, this.#report);
    await checkTotals(this.#reader, this.#totals, this.#report);
    await checkLinks(this.#reader, this.#totals.created, this.#totals.readiness, this.#report);
  }
}

/** The number of the task that an entry names, as a list of one; empty if the entry names no task. */
function taskNoOf(entry: Entry): number[] {
  const id = entry['task_id'];
  return typeof id === 'string' && isTaskId(id) ? [parseId(id)] : [];
}

/** Expected row counts and aggregates over all tasks. */
class Totals {
  events = 0;
  created = 0;
  tasks = 0;
  labels = 0;
  dependencies = 0;
  readonly sequences = new Map<string, number>();
  readonly counts = new Map<string, number>();
  /** The stored `is_ready` of tasks that are ready by their status: the links decide whether they wait. */
  readonly readiness = new NumberColumn();

  /** Numbers above the count of tasks are forged, and must not decide how much memory is taken. */
  addReadiness(taskNo: number, isReady: number): void {
    if (isReady !== 0 && taskNo <= this.created) this.readiness.set(taskNo, isReady);
  }

  /** A group that lost its last task keeps its row with a count of zero. */
  addGroup(task: Task): void {
    const group = groupOf(task);
    if (!this.counts.has(group)) this.counts.set(group, 0);
  }

  addCurrent(task: Task): void {
    this.tasks += 1;
    this.labels += task.labels.length;
    this.dependencies += task.depends_on.length;
    this.sequences.set(task.project, Math.max(task.sequence, this.sequences.get(task.project) ?? 0));
    const group = groupOf(task);
    this.counts.set(group, (this.counts.get(group) ?? 0) + 1);
  }

  /** Counts a row that differs from its entry as it is stored, so that the totals report only other differences. */
  addUnproven(row: TaskRow): void {
    const { content } = currentVersion(row);
    if (content !== null && taskDefect(content) === undefined) this.addCurrent(taskFields.fromContent(content));
    else this.tasks += 1;
  }
}

function groupOf({ project, status, priority, assignee }: Task): string {
  return JSON.stringify([project, status, PRIORITIES.indexOf(priority), assignee]);
}

/** A forger may have digested something other than a task, or another task than the entry names. */
function readTask(
  place: string,
  { task_no, salt, content }: StoredVersion,
  { entry, redaction }: { readonly entry: Entry; readonly redaction: LoggedRedaction | undefined },
  report: Report,
): Task | undefined {
  const logged = redaction === undefined ? entry['task'] : redaction.remains;
  if (storedDigest('task', salt, content) !== logged || storedId(formatTaskId, task_no) !== entry['task_id']) {
    report(
      place,
      redaction === undefined ? 'differs from its entry' : `is not what entry ${redaction.index} left of it`,
    );
    return undefined;
  }
  const defect = taskDefect(content ?? '');
  if (defect !== undefined) {
    report(place, `is not a task: it ${defect}`);
    return undefined;
  }
  if (redaction !== undefined && !isWithoutText(content ?? '', redaction.note))
    report(place, `was redacted by entry ${redaction.index} and has text`);
  const task = taskFields.fromContent(content ?? '');
  if (task.task_id !== entry['task_id']) {
    report(place, `holds ${task.task_id} where its entry names another task`);
    return undefined;
  }
  if (task.updated_at !== entry.at || task.updated_by !== entry.actor)
    report(place, 'differs from its entry in time or actor');
  return task;
}

/** A task must be newer than each of its earlier events. */
function checkSuperseded(index: number, taskId: string, row: TaskRow | undefined, report: Report): void {
  if (row === undefined) report(taskId, 'is missing');
  else if (!(row.event_idx > index)) report(taskId, `is older than its event ${index}`);
}

/** Compares earlier versions with the current one, which is itself compared with its entry. */
function checkImmutable(index: number, task: Task, row: TaskRow, report: Report): void {
  const version = taskFields.toRow(task);
  const changed = IMMUTABLE.filter((column) => version[column] !== row[column]);
  if (changed.length > 0) report(`task event ${index}`, `differs from its task in ${changed.join(', ')}`);
}

/** What no change of a task changes. */
const IMMUTABLE = ['created_at', 'created_by', 'project', 'sequence', 'workflow'] as const;

async function checkCurrent(reader: Reader, task: Task, row: TaskRow, totals: Totals, report: Report): Promise<void> {
  const expected = toColumns(task, row, row.is_ready === WAITING);
  const differing = Object.keys(expected).filter(
    (name) => !Object.is(expected[name as keyof TaskRow], row[name as keyof TaskRow]),
  );
  if (differing.length > 0) report(task.task_id, `differs from its last event in ${differing.join(', ')}`);
  const taskNo = parseId(task.task_id);
  for (const label of task.labels) {
    const found = await reader.query('SELECT 1 FROM task_labels WHERE label = $1 AND task_no = $2', [label, taskNo]);
    if (found.length !== 1) report(task.task_id, `is not listed once under label ${label}`);
  }
  for (const id of task.depends_on) {
    const sql = 'SELECT 1 FROM task_dependencies WHERE task_no = $1 AND depends_on = $2';
    if ((await reader.query(sql, [taskNo, parseId(id)])).length !== 1)
      report(task.task_id, `is not linked once to ${id}`);
  }
  if (expected.is_ready === row.is_ready) totals.addReadiness(taskNo, row.is_ready);
  totals.addCurrent(task);
}

async function checkTotals(reader: Reader, totals: Totals, report: Report): Promise<void> {
  const [rows] = await reader.query<{ versions: number; tasks: number; labels: number; dependencies: number }>(
    `SELECT (SELECT COUNT(*) FROM task_versions) AS versions, (SELECT COUNT(*) FROM tasks) AS tasks, (SELECT COUNT(*) FROM task_labels) AS labels,
            (SELECT COUNT(*) FROM task_dependencies) AS dependencies`,
  );
  const versions = totals.events - totals.created;
  if (rows?.versions !== versions)
    report('task_versions', `has ${rows?.versions} rows where the log has ${versions} earlier versions`);
  if (rows?.tasks !== totals.tasks || totals.tasks !== totals.created) {
    report('tasks', 'has rows that no entry accounts for');
    await reportOrphanTasks(reader, report);
  }
  if (rows?.labels !== totals.labels) {
    report('task_labels', 'has rows that no task accounts for');
    await reportOrphanLabels(reader, report);
  }
  if (rows?.dependencies !== totals.dependencies) {
    report('task_dependencies', 'has rows that no task accounts for');
    await reportOrphanDependencies(reader, report);
  }
  await checkCounters(reader, totals, report);
  const groups = await reader.query<{
    project: string;
    status: string;
    priority: number;
    assignee: string;
    tasks: number;
  }>('SELECT * FROM task_counts');
  for (const { project, status, priority, assignee, tasks } of groups) {
    const group = JSON.stringify([project, status, priority, assignee]);
    if (totals.counts.get(group) !== tasks) report('task_counts', `is wrong about ${group}`);
    totals.counts.delete(group);
  }
  for (const group of totals.counts.keys()) report('task_counts', `has no row for ${group}`);
}

async function checkCounters(reader: Reader, totals: Totals, report: Report): Promise<void> {
  // The trail checks the other two.
  const rows = await reader.query<{ name: string; value: number }>(
    "SELECT name, value FROM counters WHERE name NOT IN ('session', 'thought')",
  );
  const expected = new Map([...totals.sequences].map(([project, sequence]) => [`project/${project}`, sequence]));
  if (totals.created > 0) expected.set('task', totals.created);
  for (const { name, value } of rows) {
    if (expected.get(name) !== value)
      report(`counter ${name}`, `is ${value} instead of ${expected.get(name) ?? 'absent'}`);
    expected.delete(name);
  }
  for (const name of expected.keys()) report(`counter ${name}`, 'is missing');
}
