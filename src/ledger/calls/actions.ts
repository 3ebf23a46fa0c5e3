import type { Reader } from '../../db/database.ts';

/** One call, as a row of the view `actions`. */
export interface Action {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly entered_at: string;
  readonly exited_at: string | null;
  /** `running` until the exit is recorded. */
  readonly outcome: string;
  readonly duration_ms: number | null;
  readonly arguments: string;
  /** Salted digest of the answer; null until the exit is recorded. */
  readonly result_digest: string | null;
}

/** The last calls, oldest first. */
export async function listLastActions(db: Reader, limit: number): Promise<Action[]> {
  const rows = await db.query<Action>('SELECT * FROM actions ORDER BY sequence_no DESC LIMIT $1', [limit]);
  return rows.reverse();
}

export function listActionsAfter(db: Reader, sequenceNo: number, limit: number): Promise<Action[]> {
  return db.query<Action>('SELECT * FROM actions WHERE sequence_no > $1 ORDER BY sequence_no LIMIT $2', [
    sequenceNo,
    limit,
  ]);
}

export async function findAction(db: Reader, sequenceNo: number): Promise<Action | undefined> {
  const [row] = await db.query<Action>('SELECT * FROM actions WHERE sequence_no = $1', [sequenceNo]);
  return row;
}
