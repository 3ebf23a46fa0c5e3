import type { Reader, SqlValue, Transaction } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { formatTaskId, parseId, taskNumber } from '../../ids.ts';
import { PRIORITIES, saltedDigest } from '../../integrity/index.ts';
import { append } from '../../ledger/append.ts';
import { createSalt } from '../../ledger/salt.ts';
import type { CutList } from '../trail/cut-list.ts';
import { coveringSessions, joinSessions, recordMemberships } from '../trail/sessions.ts';
import { addChild, removeAwaited, removeChild, storeUnmet } from './dependency-links.ts';
import { type EventOf, type Task, type TaskRow, type TokenedTask, taskFields, toColumns } from './record.ts';
import { addWords, changeWords, indexBatch } from './search.ts';
import { isOpen } from './workflows.ts';

export function projectCounter(project: string): string {
  return `project/${project}`;
}

export async function hasProject(db: Reader, project: string): Promise<boolean> {
  const found = await db.query('SELECT 1 FROM counters WHERE name = $1', [projectCounter(project)]);
  return found.length > 0;
}

export async function findTask(db: Reader, taskId: string): Promise<Task | undefined> {
  const [row] = await db.query<TaskRow>('SELECT * FROM tasks WHERE task_no = $1', [taskNumber(taskId)]);
  return row && taskFields.fromRow(row);
}

export async function findTokenedTask(db: Reader, taskId: string): Promise<TokenedTask | undefined> {
  const [row] = await db.query<TaskRow & { readonly unmet: number | null }>(
    `SELECT tasks.*, (SELECT unmet FROM task_unmet WHERE task_unmet.task_no = tasks.task_no) AS unmet
     FROM tasks WHERE task_no = $1`,
    [taskNumber(taskId)],
  );
  return row && { task: taskFields.fromRow(row), token: row.claim_idx, unmet: row.unmet ?? 0 };
}

export interface NewTaskFacts {
  /** How many of its dependencies are open. */
  readonly unmet: number;
  /** The words of the text, if the caller has cut it already. */
  readonly words?: string | undefined;
}

export async function insertTask(db: Transaction, task: Task, { unmet, words }: NewTaskFacts): Promise<void> {
  const columns = toColumns(task, await appendEvent(db, 'task.created', task), unmet > 0);
  insertText ??= insertOf(Object.keys(columns));
  db.send(insertText, Object.values(columns));
  addWords(db, task, words);
  await indexBatch(db, task);
  indexLabels(db, task);
  indexDependencies(db, task);
  storeUnmet(db, parseId(task.task_id), 0, unmet);
  count(db, task, 1);
  if (task.parent_id !== null) addChild(db, task.parent_id);
}

/** Built once: the columns never change. */
let insertText: string | undefined;

function insertOf(names: readonly string[]): string {
  return `INSERT INTO tasks (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`;
}

export interface TaskChange {
  readonly before: TokenedTask;
  readonly after: Task;
  /** True if the event of this change is a claim. */
  readonly isClaim: boolean;
  /** How many of its links lead to open tasks afterwards. */
  readonly unmet: number;
  /** The words of the text, if the caller has cut it already. */
  readonly words?: string | undefined;
}

/** Writes only changed columns and updates only the indexes over them. Returns the fencing token. */
export async function updateTask(
  db: Transaction,
  { before: { task: before, token, unmet: unmetBefore }, after, isClaim, unmet, words }: TaskChange,
): Promise<number | null> {
  const taskNo = parseId(after.task_id);
  const event = await appendEvent(db, 'task.updated', after);
  const claim_idx = isClaim ? event.event_idx : token;
  keepVersion(db, taskNo, before);
  const old: Record<string, SqlValue> = toColumns(
    before,
    { event_idx: -1, salt: '', claim_idx: token },
    unmetBefore > 0,
  );
  const columns = toColumns(after, { ...event, claim_idx }, unmet > 0);
  const changed = Object.entries(columns).filter(([name, value]) => old[name] !== value);
  const assignments = changed.map(([name], index) => `${name} = $${index + 2}`).join(', ');
  db.send(`UPDATE tasks SET ${assignments} WHERE task_no = $1`, [taskNo, ...changed.map(([, value]) => value)]);
  const names = new Set(changed.map(([name]) => name));
  if (names.has('title') || names.has('description')) {
    changeWords(db, after, words);
  }
  if (names.has('labels')) {
    for (const label of before.labels)
      db.send('DELETE FROM task_labels WHERE label = $1 AND task_no = $2', [label, taskNo]);
    indexLabels(db, after);
  }
  if (names.has('depends_on')) {
    db.send('DELETE FROM task_dependencies WHERE task_no = $1', [taskNo]);
    indexDependencies(db, after);
  }
  storeUnmet(db, taskNo, unmetBefore, unmet);
  if (names.has('status') || names.has('priority') || names.has('assignee')) {
    count(db, before, -1);
    count(db, after, 1);
  }
  changeAwaited(db, before, after);
  return claim_idx;
}

/** What the change means for those that wait for the task. A closed task is never opened again. */
function changeAwaited(db: Transaction, before: Task, after: Task): void {
  if (!isOpen(before.status)) return;
  if (!isOpen(after.status)) return removeAwaited(db, parseId(after.task_id), before.parent_id);
  if (after.parent_id === before.parent_id) return;
  if (before.parent_id !== null) removeChild(db, before.parent_id);
  if (after.parent_id !== null) addChild(db, after.parent_id);
}

/** The open tasks that a task waits for, oldest first. */
export async function listUnmet(db: Reader, taskNo: number): Promise<string[]> {
  const rows = await db.query<{ task_no: number }>(
    `SELECT task_no FROM tasks
     WHERE ${dialectOf(db).among('task_no', 'SELECT awaited_no FROM task_waits WHERE waiting_no = $1')} AND is_open = 1
     ORDER BY task_no`,
    [taskNo],
  );
  return rows.map(({ task_no }) => formatTaskId(task_no));
}

/** The open tasks that wait for a task, oldest first. */
export async function listWaiting(db: Reader, taskNo: number, limit: number): Promise<string[]> {
  const rows = await db.query<{ task_no: number }>(
    `SELECT DISTINCT tasks.task_no FROM task_waits JOIN tasks ON tasks.task_no = task_waits.waiting_no
     WHERE task_waits.awaited_no = $1 AND tasks.is_open = 1 ORDER BY tasks.task_no LIMIT $2`,
    [taskNo, limit],
  );
  return rows.map(({ task_no }) => formatTaskId(task_no));
}

export async function listChildren(db: Reader, taskNo: number, limit: number): Promise<CutList<string>> {
  const rows = await db.query<{ task_no: number }>(
    'SELECT task_no FROM tasks WHERE parent_no = $1 ORDER BY task_no LIMIT $2',
    [taskNo, limit],
  );
  const items = rows.map(({ task_no }) => formatTaskId(task_no));
  if (items.length < limit) return { items, total: items.length };
  const [all] = await db.query<{ total: number }>('SELECT COUNT(*) AS total FROM tasks WHERE parent_no = $1', [taskNo]);
  return { items, total: all?.total ?? items.length };
}

/** Must come before the row of the task changes, which has the salt and the entry of this version. */
function keepVersion(db: Transaction, taskNo: number, version: Task): void {
  db.send(
    `INSERT INTO task_versions (idx, task_no, salt, content)
     SELECT event_idx, task_no, salt, CAST($2 AS TEXT) FROM tasks WHERE task_no = $1`,
    [taskNo, taskFields.toContent(version)],
  );
}

async function appendEvent(db: Transaction, kind: 'task.created' | 'task.updated', task: Task): Promise<EventOf> {
  const content = taskFields.toContent(task);
  const salt = createSalt();
  const { task_id, updated_at: at, updated_by: actor } = task;
  const digest = saltedDigest('task', salt, content);
  // A new task has no session of its own; only a deep session of an ancestor can cover it.
  const isAlone = kind === 'task.created' && task.parent_id === null;
  const memberships = isAlone ? [] : await joinSessions(db, await coveringSessions(db, task));
  const index = await append(db, { actor, at, kind, sessions: memberships, task: digest, task_id, v: 1 });
  recordMemberships(db, memberships, index);
  return { event_idx: index, salt, claim_idx: null };
}

function indexLabels(db: Transaction, { task_id, labels }: Task): void {
  for (const label of labels) {
    db.send('INSERT INTO task_labels (label, task_no) VALUES ($1, $2)', [label, parseId(task_id)]);
  }
}

function indexDependencies(db: Transaction, { task_id, depends_on }: Task): void {
  for (const dependency of depends_on) {
    db.send('INSERT INTO task_dependencies (task_no, depends_on) VALUES ($1, $2)', [
      parseId(task_id),
      parseId(dependency),
    ]);
  }
}

function count(db: Transaction, task: Task, difference: number): void {
  db.send(
    `INSERT INTO task_counts (project, status, priority, assignee, tasks) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (project, status, priority, assignee) DO UPDATE SET tasks = task_counts.tasks + excluded.tasks`,
    [task.project, task.status, PRIORITIES.indexOf(task.priority), task.assignee, difference],
  );
}
