import type { Transaction } from '../db/database.ts';

const INCREMENT = `INSERT INTO counters (name, value) VALUES ($1, 1)
  ON CONFLICT (name) DO UPDATE SET value = counters.value + 1`;

/** The next number of each of two counters, which must have different names. */
export async function nextNumbers(db: Transaction, one: string, other: string): Promise<[one: number, other: number]> {
  // Row by row: SQLite keeps a journal for a statement that changes several rows, which costs more than two statements.
  db.send(INCREMENT, [one]);
  db.send(INCREMENT, [other]);
  // Not `name IN ($1, $2)`, for which SQLite builds a table.
  const [numbers] = await db.query<{ one: number; other: number }>(
    `SELECT (SELECT value FROM counters WHERE name = $1) AS one, (SELECT value FROM counters WHERE name = $2) AS other`,
    [one, other],
  );
  return [numbers?.one ?? Number.NaN, numbers?.other ?? Number.NaN];
}

/** Numbers that rise by one and are given once, also to processes that ask at the same moment. */
export async function nextNumber(db: Transaction, name: string): Promise<number> {
  const [counter] = await db.query<{ value: number }>(`${INCREMENT} RETURNING value`, [name]);
  if (counter === undefined) throw new Error(`counter ${name} gave no number`);
  return counter.value;
}
