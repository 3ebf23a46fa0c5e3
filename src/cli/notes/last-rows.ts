import type { Reader } from '../../db/database.ts';

/** The last rows of a long list, oldest first, with the number of all of them. */
export interface CutRows<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Tables whose rows have an index on the condition and the order, so that a long list costs no more than its end. */
export async function readLast<Row>(
  db: Reader,
  table: 'thoughts' | 'task_versions',
  order: 'chain_position' | 'session_seq' | 'idx',
  condition: Readonly<Record<string, number>>,
  limit: number,
): Promise<CutRows<Row>> {
  const names = Object.keys(condition);
  const where = names.map((name, place) => `${name} = $${place + 1}`).join(' AND ');
  const values = Object.values(condition);
  const rows = await db.query<Row>(
    `SELECT * FROM ${table} WHERE ${where} ORDER BY ${order} DESC LIMIT $${names.length + 1}`,
    [...values, limit],
  );
  if (rows.length < limit) return { rows: rows.reverse(), total: rows.length };
  const [all] = await db.query<{ total: number }>(`SELECT COUNT(*) AS total FROM ${table} WHERE ${where}`, values);
  return { rows: rows.reverse(), total: all?.total ?? rows.length };
}
