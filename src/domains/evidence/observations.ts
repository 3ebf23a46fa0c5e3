import type { Reader } from '../../db/database.ts';
import { commitKey, type Salt } from '../../integrity/index.ts';

/** What a hook reported, as it is stored. */
export interface ObservationRow {
  readonly idx: number;
  /** Null if the log has no such entry. */
  readonly entry: string | null;
  readonly salt: Salt;
  readonly content: string;
}

/** A subquery for each row: PostgreSQL would otherwise join with the whole log. */
const ENTRY = '(SELECT entry FROM ledger_entries WHERE ledger_entries.idx = observations.idx) AS entry';
const select = (rows: string) => `SELECT observations.idx, ${ENTRY}, salt, content FROM observations WHERE ${rows}`;

export async function findObservation(db: Reader, index: number): Promise<ObservationRow | undefined> {
  const [row] = await db.query<ObservationRow>(select('idx = $1'), [index]);
  return row;
}

/** The newest observations of a task, oldest first. */
export async function listLastObservations(db: Reader, taskNo: number, limit: number): Promise<ObservationRow[]> {
  const rows = await db.query<ObservationRow>(select('task_no = $1 ORDER BY idx DESC LIMIT $2'), [taskNo, limit]);
  return rows.reverse();
}

/** The observations of a task after an entry, oldest first. */
export function listObservationsAfter(
  db: Reader,
  taskNo: number,
  index: number,
  limit: number,
): Promise<ObservationRow[]> {
  return db.query(select('task_no = $1 AND idx > $2 ORDER BY idx LIMIT $3'), [taskNo, index, limit]);
}

/** The observations of any task after one entry and up to another, oldest first. */
export function listObservationsBetween(
  db: Reader,
  after: number,
  upTo: number,
  limit: number,
): Promise<ObservationRow[]> {
  return db.query(select('idx > $1 AND idx <= $2 ORDER BY idx LIMIT $3'), [after, upTo, limit]);
}

/** The commits among the newest observations of the ledger, oldest first. */
export async function listCommitObservations(db: Reader, searched: number): Promise<ObservationRow[]> {
  const rows = await db.query<ObservationRow>(NEWEST_COMMITS, [searched - 1]);
  return rows.reverse();
}

/** A quote inside a text is escaped, so only the field of a commit matches. */
const NEWEST_COMMITS = select(
  `idx >= COALESCE((SELECT idx FROM observations ORDER BY idx DESC LIMIT 1 OFFSET $1), 0)
   AND content LIKE '%"paths":[%' ORDER BY idx DESC`,
);

export function listObservationsOfCommit(db: Reader, sha: string): Promise<ObservationRow[]> {
  return db.query(select('key = $1'), [commitKey(sha)]);
}

/** The entries of all observations of a task. */
export async function listObservationIndexes(db: Reader, taskNo: number): Promise<number[]> {
  const rows = await db.query<{ idx: number }>('SELECT idx FROM observations WHERE task_no = $1 ORDER BY idx', [
    taskNo,
  ]);
  return rows.map(({ idx }) => idx);
}

/** Takes longer the more there are. */
export async function countObservations(db: Reader, taskNo: number): Promise<number> {
  const [row] = await db.query<{ total: number }>('SELECT COUNT(*) AS total FROM observations WHERE task_no = $1', [
    taskNo,
  ]);
  return row?.total ?? 0;
}

/** The last entry of a session or of one of its sub-agents, by the key of the attachment. */
export async function findLastObservation(db: Reader, key: string): Promise<number | undefined> {
  const [row] = await db.query<{ last_idx: number }>('SELECT last_idx FROM observed_sessions WHERE session = $1', [
    key,
  ]);
  return row?.last_idx;
}
