import type { Engine, SqlValue, Transaction } from '../../db/database.ts';
import { parseId } from '../../ids.ts';
import type { Task } from './record.ts';
import { indexedWords } from './tokenizer.ts';

/** The full-text index is the one part with different SQL for each engine; `tokenizer.ts` makes both find the same tasks. */

/** `words` is the result of `indexedWords`, if the caller has computed it already. */
export function indexWords(db: Transaction, { task_id, title, description }: Task, words?: string): void {
  const column = db.engine === 'sqlite' ? 'rowid' : 'task_no';
  const indexed = words ?? indexedWords(title, description);
  db.send(`INSERT INTO task_search (${column}, words) VALUES ($1, $2)`, [parseId(task_id), indexed]);
}

export function forgetWords(db: Transaction, taskNo: number): void {
  const column = db.engine === 'sqlite' ? 'rowid' : 'task_no';
  db.send(`DELETE FROM task_search WHERE ${column} = $1`, [taskNo]);
}

/** An SQL condition on `task_no`. Phrases hold encoded words only, so no input character acts as an operator. */
export function matches(
  engine: Engine,
  phrases: readonly (readonly string[])[],
  add: (value: SqlValue) => string,
): string {
  return engine === 'sqlite' ? matchesInSqlite(phrases, add) : matchesInPostgres(phrases, add);
}

function matchesInSqlite(phrases: readonly (readonly string[])[], add: (value: SqlValue) => string): string {
  const text = phrases.map((phrase) => `"${phrase.join(' ')}"*`).join(' AND ');
  return `task_no IN (SELECT rowid FROM task_search WHERE task_search MATCH ${add(text)})`;
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
