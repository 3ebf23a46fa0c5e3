import { randomInt } from 'node:crypto';
import type { Reader, SqlValue } from '../../db/database.ts';
import { BATCH } from '../../domains/tasks/search.ts';
import { indexedWords } from '../../domains/tasks/tokenizer.ts';
import { toError } from '../../errors.ts';
import { isAfter } from '../../ledger/cursor.ts';
import type { Report } from '../report.ts';
import { readStructure } from './fts5-format.ts';
import { checkSearchOrigins } from './origins.ts';
import { checkSearchTables } from './tables.ts';

/**
 * Compares SQLite's FTS5 index with the words of the tasks. The index stores no text, only the position of each word;
 * both sides are reduced to one sum under a random key, which needs neither an order nor memory.
 *
 * Not covered, because no query of this program depends on it: averages for ranking (row 1 of task_search_data) that
 * are too high, and counters of the structure in row 10 that only decide when segments are merged.
 */
export async function checkSearchInSqlite(reader: Reader, report: Report): Promise<void> {
  try {
    await compare(reader, report);
  } catch (thrown) {
    // SQLite reports a damaged index as an error of the query that reads it.
    report('task_search', `cannot be read: ${toError(thrown).message}`);
  }
}

const FTS5_FORMAT = 4;

async function compare(reader: Reader, report: Report): Promise<void> {
  const settings = await reader.query<{ k: string; v: SqlValue }>('SELECT k, v FROM task_search_config');
  if (settings.length !== 1 || settings[0]?.k !== 'version' || settings[0].v !== FTS5_FORMAT)
    report('task_search_config', 'has settings that this program does not make');
  const key = new Key();
  const [expected, taskCount, wordCount] = await addUpTasks(reader, key, report);
  const [sizes] = await reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM task_search_docsize');
  if (sizes?.rows !== taskCount) report('task_search_docsize', `has ${sizes?.rows} rows for ${taskCount} tasks`);
  await reader.query('CREATE VIRTUAL TABLE IF NOT EXISTS temp.task_words USING fts5vocab(main, task_search, instance)');
  const actual = await addUpIndex(reader, key, report);
  await reader.query('DROP TABLE temp.task_words');
  if (actual !== expected) report('task_search', 'does not hold the words of the tasks');
  // In hexadecimal: the strict reader returns only texts and integers.
  const [structure] = await reader.query<{ hex: string }>(
    'SELECT hex(block) AS hex FROM task_search_data WHERE id = 10',
  );
  if (structure === undefined) return report('task_search_data', 'has no structure record');
  const levels = readStructure(Buffer.from(structure.hex, 'hex'));
  await checkSearchOrigins(reader, levels, taskCount, report);
  await checkSearchTables(reader, levels.flat(), { rows: taskCount, words: wordCount }, report);
}

const PAGE = 500;

interface TaskWords {
  readonly task_no: number;
  readonly title: string;
  readonly description: string;
  readonly size: string | null;
  /** Not indexed yet: a search reads its text. */
  readonly is_pending: number;
}

async function addUpTasks(
  reader: Reader,
  key: Key,
  report: Report,
): Promise<[sum: number, tasks: number, words: number]> {
  let [sum, count, wordCount, pending] = [0, 0, 0, 0];
  for (let after = 0; ; ) {
    const rows = await reader.query<TaskWords>(
      `SELECT task_no, title, description, hex(sz) AS size,
              task_no > (SELECT COALESCE(MAX(id), 0) FROM task_search_docsize) AS is_pending
       FROM tasks LEFT JOIN task_search_docsize ON task_search_docsize.id = tasks.task_no
       WHERE task_no > $1 ORDER BY task_no LIMIT $2`,
      [after, PAGE],
    );
    if (rows.length === 0) return [sum, count, wordCount];
    for (const { task_no, title, description, size, is_pending } of rows) {
      if (is_pending === 1) {
        pending += 1;
        if (pending === BATCH) report('task_search', `has not indexed ${BATCH} tasks and more`);
        continue;
      }
      const words = indexedWords(title, description)
        .split(' ')
        .filter((word) => word !== '');
      for (const [offset, word] of words.entries()) sum = (sum + key.mark(word, task_no, offset)) % Key.PRIME;
      if (size !== varint(words.length)) report('task_search_docsize', `is wrong about task ${task_no}`);
      count += 1;
      wordCount += words.length;
    }
    const last = rows.at(-1)?.task_no ?? after;
    // Ends a scan whose keys do not rise; the count then differs.
    if (!isAfter([last], [after])) return [sum, count, wordCount];
    after = last;
  }
}

async function addUpIndex(reader: Reader, key: Key, report: Report): Promise<number> {
  let sum = 0;
  for (let after = ''; ; ) {
    const rows = await reader.query<{ term: string; marks: number; tasks: number; found: number }>(
      `SELECT term, SUM(${key.placeInSql}) AS marks, COUNT(DISTINCT doc) AS tasks,
              (SELECT COUNT(*) FROM task_search WHERE task_search MATCH '"' || REPLACE(term, '"', '""') || '"') AS found
       FROM temp.task_words WHERE term > $1 GROUP BY term ORDER BY term LIMIT $2`,
      [after, PAGE],
    );
    if (rows.length === 0) return sum;
    for (const { term, marks, tasks, found } of rows) {
      sum = (sum + key.word(term) * (marks % Key.PRIME)) % Key.PRIME;
      // FTS5 stores the lookup of a word apart from its positions.
      if (found !== tasks) report('task_search', `finds ${term} in ${found} tasks instead of ${tasks}`);
    }
    const last = rows.at(-1)?.term ?? after;
    if (!isAfter([last], [after])) {
      report('task_search', 'holds a word that is not text');
      return sum;
    }
    after = last;
  }
}

/** Random for each run, so that a forger cannot predict the sums. */
class Key {
  /** The largest prime below 2^26: products of two remainders stay exact. */
  static readonly PRIME = 67_108_859;
  readonly #base = randomInt(256, Key.PRIME);
  readonly #factors = [randomInt(1, 2 ** 20), randomInt(1, 2 ** 20), randomInt(1, 2 ** 20)] as const;

  mark(word: string, taskNo: number, offset: number): number {
    const [a, b, c] = this.#factors;
    const place = (taskNo * a + offset * b + c) % Key.PRIME;
    return (this.word(word) * ((place * place) % Key.PRIME)) % Key.PRIME;
  }

  word(word: string): number {
    let sum = 1;
    for (let index = 0; index < word.length; index += 1) sum = (sum * this.#base + word.charCodeAt(index)) % Key.PRIME;
    return sum;
  }

  /** The same term as in `mark`, as SQL. */
  get placeInSql(): string {
    const [a, b, c] = this.#factors;
    const place = `((doc * ${a} + "offset" * ${b} + ${c}) % ${Key.PRIME})`;
    return `(${place} * ${place}) % ${Key.PRIME}`;
  }
}

/** A length as FTS5 stores it: a big-endian varint, in hexadecimal. */
function varint(value: number): string {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(128 + (rest % 128));
  return Buffer.from(bytes).toString('hex').toUpperCase();
}
