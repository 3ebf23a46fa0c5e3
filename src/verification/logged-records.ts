import type { Reader } from '../db/database.ts';

/** A task's chain consists of thoughts; a session also contains task events. */
const RECORD_KINDS = { task_id: ['thought'], session_id: ['thought', 'task.created', 'task.updated'] } as const;

export type RecordField = keyof typeof RECORD_KINDS;

/** Counts the records of a task or a session in the whole log: a forger could have cut any index or projection. */
export async function countLogged(db: Reader, field: RecordField, id: string): Promise<number> {
  const kinds = RECORD_KINDS[field];
  const conditions = kinds.map((_, offset) => `entry LIKE $${offset + 1}`).join(' OR ');
  const [row] = await db.query<{ count: number }>(
    `SELECT COUNT(*) AS count FROM ledger_entries WHERE ${conditions}`,
    // Canonical JSON sorts its keys: the kind comes before both fields.
    kinds.map((kind) => `%"kind":"${kind}"%"${field}":"${id}"%`),
  );
  return row?.count ?? 0;
}
