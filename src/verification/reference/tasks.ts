import type { Reader } from '../../db/database.ts';
import { type Task, type TaskRow, taskDefect, taskFields, toColumns } from '../../domains/tasks/record.ts';
import { formatTaskId, parseId, storedId } from '../../ids.ts';
import { type Entry, PRIORITIES, storedDigest } from '../../integrity/index.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';
import { reportCycle } from './task-cycles.ts';
import { reportOrphanDependencies, reportOrphanEvents, reportOrphanLabels, reportOrphanTasks } from './task-orphans.ts';
import { checkImmutable } from './task-versions.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

interface EventRow {
  readonly idx: number;
  readonly task_no: number;
  readonly salt: string;
  readonly content: string;
  /** The last event of the same task according to the task's row. */
  readonly current_idx: number | null;
}

const EVENTS = `
  SELECT task_events.idx, task_events.task_no, task_events.salt, task_events.content, tasks.event_idx AS current_idx
  FROM task_events LEFT JOIN tasks ON tasks.task_no = task_events.task_no
  WHERE task_events.idx >= $1 AND task_events.idx < $2`;

const CURRENT_TASKS = `
  SELECT tasks.* FROM task_events
  JOIN tasks ON tasks.task_no = task_events.task_no AND tasks.event_idx = task_events.idx
  WHERE task_events.idx >= $1 AND task_events.idx < $2`;

/** Compares every task event with the log, and every table about tasks with the last event of each task. */
export class TaskCheck {
  readonly #reader: Reader;
  readonly #report: Report;
  readonly #onTask: (index: number, task: Task) => void;
  readonly #totals = new Totals();

  /** `onTask` receives each task event whose content matches the log. */
  constructor(reader: Reader, report: Report, onTask: (index: number, task: Task) => void) {
    this.#reader = reader;
    this.#report = report;
    this.#onTask = onTask;
  }

  async page(entries: readonly LoggedEntry[], begin: number, end: number): Promise<void> {
    const [reader, report, totals] = [this.#reader, this.#report, this.#totals];
    const events = await reader.query<EventRow>(EVENTS, [begin, end]);
    const current = await reader.query<TaskRow>(CURRENT_TASKS, [begin, end]);
    const eventTwice = (index: number) => report(`task event ${index}`, STORED_TWICE);
    const unaccounted = indexRows(events, ({ idx }) => idx, eventTwice);
    const taskTwice = (index: number) => report(`task of event ${index}`, STORED_TWICE);
    const tasks = indexRows(current, ({ event_idx }) => event_idx, taskTwice);
    const versions = new Map<number, Task>();
    for (const { index, entry } of entries) {
      if (entry.kind !== 'task.created' && entry.kind !== 'task.updated') continue;
      const event = unaccounted.get(index);
      unaccounted.delete(index);
      totals.events += 1;
      if (entry.kind === 'task.created') totals.created += 1;
      if (
        event === undefined ||
        storedDigest('task', event.salt, event.content) !== entry['task'] ||
        storedId(formatTaskId, event.task_no) !== entry['task_id']
      ) {
        report(`task event ${index}`, event === undefined ? 'is missing' : 'differs from its entry');
        continue;
      }
      const task = readTask(index, event.content, entry, report);
      if (task === undefined) continue;
      versions.set(index, task);
      this.#onTask(index, task);
      totals.addGroup(task);
      const row = tasks.get(index);
      if (row === undefined) checkSuperseded(event, report);
      else await checkCurrent(reader, task, row, totals, report);
    }
    for (const index of unaccounted.keys()) report(`task event ${index}`, 'has no entry');
    await checkImmutable(reader, begin, end, versions, report);
  }

  async finish(size: number): Promise<void> {
    await reportOrphanEvents(this.#reader, size, this.#report);
    await checkTotals(this.#reader, this.#totals, this.#report);
    await reportCycle(this.#reader, this.#totals.created, this.#report);
  }
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

  /** A group that lost its last task keeps its row with a count of zero. */
  addGroup(task: Task): void {
    const group = groupOf(task);
    if (!this.counts.has(group)) this.counts.set(group, 0);
  }
}

function groupOf({ project, status, priority, assignee }: Task): string {
  return JSON.stringify([project, status, PRIORITIES.indexOf(priority), assignee]);
}

/** The digest matches, but a forger may have digested something other than this task. */
function readTask(index: number, content: string, entry: Entry, report: Report): Task | undefined {
  const place = `task event ${index}`;
  const defect = taskDefect(content);
  if (defect !== undefined) {
    report(place, `is not a task: it ${defect}`);
    return undefined;
  }
  const task = taskFields.fromContent(content);
  if (task.task_id !== entry['task_id']) {
    report(place, `holds ${task.task_id} where its entry names another task`);
    return undefined;
  }
  if (task.updated_at !== entry.at || task.updated_by !== entry.actor)
    report(place, 'differs from its entry in time or actor');
  return task;
}

/** A task must be newer than each of its earlier events. */
function checkSuperseded({ idx, task_no, current_idx }: EventRow, report: Report): void {
  if (current_idx !== null && current_idx > idx) return;
  report(formatTaskId(task_no), current_idx === null ? 'is missing' : `is older than its event ${idx}`);
}

async function checkCurrent(reader: Reader, task: Task, row: TaskRow, totals: Totals, report: Report): Promise<void> {
  const expected = toColumns(task, row.event_idx);
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
  totals.tasks += 1;
  totals.labels += task.labels.length;
  totals.dependencies += task.depends_on.length;
  totals.sequences.set(task.project, Math.max(task.sequence, totals.sequences.get(task.project) ?? 0));
  const group = groupOf(task);
  totals.counts.set(group, (totals.counts.get(group) ?? 0) + 1);
}

async function checkTotals(reader: Reader, totals: Totals, report: Report): Promise<void> {
  const [rows] = await reader.query<{ events: number; tasks: number; labels: number; dependencies: number }>(
    `SELECT (SELECT COUNT(*) FROM task_events) AS events, (SELECT COUNT(*) FROM tasks) AS tasks, (SELECT COUNT(*) FROM task_labels) AS labels,
            (SELECT COUNT(*) FROM task_dependencies) AS dependencies`,
  );
  if (rows?.events !== totals.events)
    report('task_events', `has ${rows?.events} rows where the log has ${totals.events} changes of tasks`);
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
