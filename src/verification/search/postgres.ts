import type { Reader } from '../../db/database.ts';
import { indexedWords } from '../../domains/tasks/tokenizer.ts';
import { formatTaskId } from '../../ids.ts';
import { isAfter } from '../../ledger/cursor.ts';
import type { Report } from '../report.ts';

/** Compares the search table of PostgreSQL with the words of the tasks. */
export async function checkSearchInPostgres(reader: Reader, report: Report): Promise<void> {
  const tasks = await checkWords(reader, report);
  const [counted] = await reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM task_search');
  if (counted?.rows !== tasks) report('task_search', `has ${counted?.rows} rows for ${tasks} tasks`);
}

const PAGE = 500;

/** Returns the number of tasks. */
async function checkWords(reader: Reader, report: Report): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    const rows = await reader.query<{ task_no: number; title: string; description: string; words: string | null }>(
      `SELECT tasks.task_no, title, description,
              CASE WHEN lexemes = array_to_tsvector(string_to_array(words, ' ')) THEN words END AS words
       FROM tasks LEFT JOIN task_search ON task_search.task_no = tasks.task_no
       WHERE tasks.task_no > $1 ORDER BY tasks.task_no LIMIT $2`,
      [after, PAGE],
    );
    if (rows.length === 0) return count;
    for (const { task_no, title, description, words } of rows) {
      if (words !== indexedWords(title, description))
        report('task_search', `does not hold the words of ${formatTaskId(task_no)}`);
      count += 1;
    }
    const last = rows.at(-1)?.task_no ?? after;
    // Ends a scan whose keys do not rise; the count then differs.
    if (!isAfter([last], [after])) return count;
    after = last;
  }
}
