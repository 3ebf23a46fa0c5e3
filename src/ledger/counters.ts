import type { Transaction } from '../db/database.ts';

/** The next number of each of two counters, which must have different names. */
export async function nextNumbers(db: Transaction, one: string, other: string): Promise<[one: number, other: number]> {
  const counters = await db.query<{ name: string; value: number }>(
    `INSERT INTO counters (name, value) VALUES ($1, 1), ($2, 1)
     ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING name, value`,
    [one, other],
  );
  const numberOf = (wanted: string) => counters.find(({ name }) => name === wanted)?.value ?? Number.NaN;
  return [numberOf(one), numberOf(other)];
}

/** Numbers that rise by one and are given once, also to processes that ask at the same moment. */
export async function nextNumber(db: Transaction, name: string): Promise<number> {
  const [counter] = await db.query<{ value: number }>(
    `INSERT INTO counters (name, value) VALUES ($1, 1)
     ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value`,
    [name],
  );
  if (counter === undefined) throw new Error(`counter ${name} gave no number`);
  return counter.value;
}
