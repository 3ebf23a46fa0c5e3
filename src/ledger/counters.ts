import type { Transaction } from '../db/database.ts';

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
