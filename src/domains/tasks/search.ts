import type { Engine, Reader, SqlValue, Transaction } from '../../db/database.ts';
import { parseId } from '../../ids.ts';
import type { Task, TaskRow } from './record.ts';
import { indexedWords } from './tokenizer.ts';

/**
 * The one thing for which the engines share no SQL. Both find the same tasks: this program cuts the words.
 *
 * On SQLite new tasks are indexed in batches, because a segment of FTS5 for each task costs a third of a create. The
 * tasks above the highest indexed one are pending, and a search reads their text.
 */
export const BATCH = 8;

/** What `addWords` needs, for a caller that does not hold the write lock yet. */
export function wordsOfNewTask(engine: Engine, title: string, description: string): string | undefined {
  return engine === 'postgres' ? indexedWords(title, description) : undefined;
}

/** For a new task. On SQLite it is pending. */
export function addWords(db: Transaction, { task_id, title, description }: Task, words?: string): void {
  if (db.engine === 'postgres') indexWords(db, parseId(task_id), words ?? indexedWords(title, description));
}

/** Call after the row of a new task was inserted. */
export async function indexBatch(db: Transaction, { task_id }: Task): Promise<void> {
  if (parseId(task_id) % BATCH === 0) await indexPending(db);
}

/** Call when title or description have changed. A pending task stays pending. */
export function changeWords(db: Transaction, { task_id, title, description }: Task, words?: string): void {
  const taskNo = parseId(task_id);
  const changed = words ?? indexedWords(title, description);
  if (db.engine === 'sqlite') {
    db.send('UPDATE task_search SET words = $2 WHERE rowid = $1', [taskNo, changed]);
    return;
  }
  db.send('DELETE FROM task_search WHERE task_no = $1', [taskNo]);
  indexWords(db, taskNo, changed);
}

const PAGE = 1000;
const PENDING = `SELECT task_no, title, description FROM tasks
  WHERE task_no > (SELECT COALESCE(MAX(id), 0) FROM task_search_docsize) ORDER BY task_no LIMIT $1`;

type PendingRow = Pick<TaskRow, 'task_no' | 'title' | 'description'>;

/** Indexes the next pending tasks, in the order of their numbers. Returns false if none are left. */
export async function indexPending(db: Transaction): Promise<boolean> {
  if (db.engine === 'postgres') return false;
  const rows = await db.query<PendingRow>(PENDING, [PAGE]);
  for (const { task_no, title, description } of rows) indexWords(db, task_no, indexedWords(title, description));
  return rows.length === PAGE;
}

export function indexWords(db: Transaction, taskNo: number, words: string): void {
  const column = db.engine === 'sqlite' ? 'rowid' : 'task_no';
  db.send(`INSERT INTO task_search (${column}, words) VALUES ($1, $2)`, [taskNo, words]);
}

/** The pending tasks that match, as a condition on `task_no` needs them. */
export async function listPendingMatches(db: Reader, phrases: readonly (readonly string[])[]): Promise<number[]> {
  if (db.engine === 'postgres') return [];
  const rows = await db.query<PendingRow>(PENDING, [BATCH]);
  return rows
    .filter(({ title, description }) => {
      const words = ` ${indexedWords(title, description)}`;
      return phrases.every((phrase) => words.includes(` ${phrase.join(' ')}`));
    })
    .map(({ task_no }) => task_no);
}

/** An SQL condition on `task_no`. Phrases hold encoded words only, so no input character acts as an operator. */
export function matches(
  engine: Engine,
  phrases: readonly (readonly string[])[],
  pending: readonly number[],
  add: (value: SqlValue) => string,
): string {
  return engine === 'sqlite' ? matchesInSqlite(phrases, pending, add) : matchesInPostgres(phrases, add);
}

function matchesInSqlite(
  phrases: readonly (readonly string[])[],
  pending: readonly number[],
  add: (value: SqlValue) => string,
): string {
  const text = phrases.map((phrase) => `"${phrase.join(' ')}"*`).join(' AND ');
  return `task_no IN (SELECT rowid FROM task_search WHERE task_search MATCH ${add(text)}
                      UNION ALL SELECT value FROM json_each(${add(JSON.stringify(pending))}))`;
}

/** The index finds tasks with all words; LIKE checks that the words of a phrase are adjacent. */
function matchesInPostgres(phrases: readonly (readonly string[])[], add: (value: SqlValue) => string): string {
  const words = phrases.flatMap((phrase) =>
    phrase.map((word, index) => (index + 1 < phrase.length ? word : `${word}:*`)),
  );
  const conditions = [
    `lexemes @@ CAST(${add(words.join(' & '))} AS TSQUERY)`,
    ...phrases
      .filter((phrase) => phrase.length > 1)
      .map((phrase) => `' ' || words LIKE ${add(`% ${phrase.join(' ')}%`)}`),
  ];
  return `task_no IN (SELECT task_no FROM task_search WHERE ${conditions.join(' AND ')})`;
}
