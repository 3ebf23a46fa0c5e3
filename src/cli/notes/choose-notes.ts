import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../../db/database.ts';
import type { Task } from '../../domains/tasks/record.ts';
import { currentVersion, listCurrentRows } from '../../domains/tasks/versions.ts';
import { listTasksNamingCommits } from '../../domains/trail/repository.ts';
import { listSessionNumbers } from '../../domains/trail/sessions.ts';
import { taskNumber } from '../../ids.ts';
import { parseContent } from '../../verification/task-history.ts';
import type { Affected, LogSummary } from './log-summary.ts';
import { agentPath, dayPath, INDEX_NOTE, sessionPath, taskPath } from './vault/file-names.ts';
import { listNotes } from './vault/folder.ts';
import type { VaultState } from './vault/state.ts';

/** The notes to be compared with the ledger. */
export interface Wanted extends Affected {
  index: boolean;
}

export function countAffected({ tasks, sessions, agents, days, index }: Wanted): number {
  return tasks.size + sessions.size + agents.size + days.size + Number(index);
}

export async function addEverything(db: Reader, { agents, days }: LogSummary, wanted: Wanted): Promise<void> {
  const tasks = await db.query<{ task_no: number }>('SELECT task_no FROM tasks ORDER BY task_no');
  addAll(
    wanted.tasks,
    tasks.map(({ task_no }) => task_no),
  );
  addAll(wanted.sessions, await listSessionNumbers(db));
  addAll(wanted.agents, agents.keys());
  addAll(wanted.days, days.keys());
  wanted.index = true;
}

/** Notes that a person has deleted, and those that the last export could not write. */
export function addMissing(root: string, state: VaultState, wanted: Wanted): void {
  const present = new Set([
    ...listNotes(root, 'tasks'),
    ...listNotes(root, 'sessions'),
    ...listNotes(root, 'agents'),
    ...listNotes(root, 'days'),
  ]);
  for (const path of state.left_alone) present.delete(path);
  const addTo = <Key>(set: Set<Key>, keys: Iterable<Key>, pathOf: (key: Key) => string): void => {
    for (const key of keys) if (!present.has(pathOf(key))) set.add(key);
  };
  addTo(wanted.tasks, upTo(state.tasks), taskPath);
  addTo(wanted.sessions, upTo(state.sessions), sessionPath);
  addTo(wanted.agents, state.agents, agentPath);
  addTo(wanted.days, state.days, dayPath);
  if (state.left_alone.includes(INDEX_NOTE) || !existsSync(join(root, INDEX_NOTE))) wanted.index = true;
}

/** Adds the notes that show changed records as related ones, as they were before the change and as they are now. */
export async function addRelated(db: Reader, log: LogSummary, base: number, wanted: Wanted): Promise<void> {
  if (wanted.commits) addAll(wanted.tasks, await listTasksNamingCommits(db));
  // The notes that are added below have not changed themselves.
  const changed = { tasks: new Set(wanted.tasks), days: new Set(wanted.days) };
  for (const task of changed.tasks) {
    for (const { parent_id, depends_on, holder } of await readVersions(db, task, base)) {
      if (typeof parent_id === 'string') wanted.tasks.add(taskNumber(parent_id));
      if (typeof holder === 'string' && log.agents.has(holder)) wanted.agents.add(holder);
      for (const other of depends_on ?? []) wanted.tasks.add(taskNumber(other));
    }
  }
  // A note of a day names the day before it.
  const days = [...log.days.keys()].toSorted();
  for (const day of changed.days) {
    const next = days[days.indexOf(day) + 1];
    if (next !== undefined) wanted.days.add(next);
  }
  wanted.index = true;
}

/** The version before the first new one, those since then, and the current one. */
async function readVersions(db: Reader, taskNo: number, base: number): Promise<Partial<Task>[]> {
  const rows = await db.query<{ content: string | null }>(
    `SELECT content FROM task_versions WHERE task_no = $1
       AND idx >= COALESCE((SELECT MAX(idx) FROM task_versions WHERE task_no = $1 AND idx < $2), 0)`,
    [taskNo, base],
  );
  const current = (await listCurrentRows(db, [taskNo])).map(currentVersion);
  return [...rows, ...current].map(({ content }) => parseContent(content ?? ''));
}

function* upTo(last: number): Generator<number, void> {
  for (let number = 1; number <= last; number += 1) yield number;
}

function addAll<Key>(set: Set<Key>, keys: Iterable<Key>): void {
  for (const key of keys) set.add(key);
}
