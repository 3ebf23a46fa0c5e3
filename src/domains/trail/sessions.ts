import type { Reader, Transaction } from '../../db/database.ts';
import { formatSessionId, formatTaskId, parseId, sessionNumber } from '../../ids.ts';
import { canonicalize, saltedDigest } from '../../integrity/index.ts';
import { append } from '../../ledger/append.ts';
import { nextNumber } from '../../ledger/counters.ts';
import { isAfter } from '../../ledger/cursor.ts';
import { createSalt } from '../../ledger/salt.ts';

export interface SessionRow {
  readonly session_no: number;
  readonly start_idx: number;
  readonly task_no: number;
  readonly scope: 'shallow' | 'deep';
  readonly auditor_id: string;
  readonly reason: string | null;
  readonly salt: string;
  readonly started_at: string;
  readonly started_by: string;
  readonly record_count: number;
  readonly finalized_idx: number | null;
  readonly finalized_at: string | null;
  /** Set if only the records of one task were sealed. */
  readonly sealed_task_no: number | null;
  readonly root: string | null;
  readonly leaf_count: number | null;
}

/** The position of a record in a session, as its entry names it. */
export type Membership = { readonly session_id: string; readonly session_seq: number };

export async function findSession(db: Reader, sessionId: string): Promise<SessionRow | undefined> {
  const [row] = await db.query<SessionRow>('SELECT * FROM sessions WHERE session_no = $1', [sessionNumber(sessionId)]);
  return row;
}

export async function findLiveSession(db: Reader, taskNo: number): Promise<SessionRow | undefined> {
  const [row] = await db.query<SessionRow>('SELECT * FROM sessions WHERE task_no = $1 AND finalized_idx IS NULL', [
    taskNo,
  ]);
  return row;
}

/** The sessions that were opened for a task itself, oldest first. */
export function listOwnSessions(db: Reader, taskNo: number): Promise<SessionRow[]> {
  return db.query('SELECT * FROM sessions WHERE task_no = $1 ORDER BY session_no', [taskNo]);
}

/** The sessions of a task, those with a thought about it, and those in `joined`; oldest first. */
export async function listTaskSessions(db: Reader, taskNo: number, joined: readonly string[]): Promise<SessionRow[]> {
  const places = joined.map((_, index) => `$${index + 2}`).join(', ');
  return db.query<SessionRow>(
    `SELECT * FROM sessions
     WHERE task_no = $1 OR session_no IN (SELECT session_no FROM thoughts WHERE task_no = $1)
     ${joined.length === 0 ? '' : `OR session_no IN (${places})`}
     ORDER BY session_no`,
    [taskNo, ...joined.map(parseId)],
  );
}

export interface OpenSession {
  readonly session_id: string;
  readonly started_by: string;
}

/** The sessions that are not sealed yet, oldest first. */
export async function listOpenSessions(db: Reader): Promise<OpenSession[]> {
  const rows = await db.query<{ session_no: number; started_by: string }>(
    'SELECT session_no, started_by FROM sessions WHERE finalized_idx IS NULL ORDER BY session_no',
  );
  return rows.map(({ session_no, started_by }) => ({ session_id: formatSessionId(session_no), started_by }));
}

export async function listSessionNumbers(db: Reader): Promise<number[]> {
  const rows = await db.query<{ session_no: number }>('SELECT session_no FROM sessions ORDER BY session_no');
  return rows.map(({ session_no }) => session_no);
}

/** The number of the newest session. */
export async function findLastSessionNo(db: Reader): Promise<number | undefined> {
  const [row] = await db.query<{ last: number | null }>('SELECT MAX(session_no) AS last FROM sessions');
  return row?.last ?? undefined;
}

/** All sessions, live and sealed, that cover a task now: its own, and deep sessions of its ancestors. */
export function listCoveringSessions(db: Reader, taskNo: number): Promise<SessionRow[]> {
  return db.query<SessionRow>(
    `WITH RECURSIVE covered (no) AS (
       SELECT CAST($1 AS BIGINT)
       UNION
       SELECT tasks.parent_no FROM tasks JOIN covered ON tasks.task_no = covered.no WHERE tasks.parent_no IS NOT NULL
     )
     SELECT sessions.* FROM sessions JOIN covered ON sessions.task_no = covered.no
     WHERE sessions.task_no = $1 OR scope = 'deep' ORDER BY session_no`,
    [taskNo],
  );
}

const SCANNED_AT_ONCE = 20_000;

const NEXT_ENTRIES = 'SELECT idx, entry FROM ledger_entries WHERE idx > $1 ORDER BY idx LIMIT $2';

/** Finds the entry that sealed a session whose row has no seal; only tampering removes a seal. */
export async function findHiddenSeal(db: Reader, session: SessionRow): Promise<number | undefined> {
  // Pages by rows, not by index ranges: a forged index can be arbitrarily large.
  for (let after = -1; ; ) {
    const [seal] = await db.query<{ idx: number }>(
      `SELECT idx FROM (${NEXT_ENTRIES}) AS entries WHERE entry LIKE $3 LIMIT 1`,
      [after, SCANNED_AT_ONCE, `%"kind":"session.finalized"%"session_id":"${formatSessionId(session.session_no)}"%`],
    );
    if (seal !== undefined) return seal.idx;
    const [scanned] = await db.query<{ last: number | null }>(
      `SELECT MAX(idx) AS last FROM (${NEXT_ENTRIES.replace('idx, entry', 'idx')}) AS entries`,
      [after, SCANNED_AT_ONCE],
    );
    const last = scanned?.last ?? null;
    if (last === null || !isAfter([last], [after])) return undefined;
    after = last;
  }
}

export interface NewSession {
  readonly task_id: string;
  readonly auditor_id: string;
  readonly reason: string | undefined;
  readonly scope: 'shallow' | 'deep';
  readonly at: string;
  readonly actor: string;
}

export async function startSession(db: Transaction, session: NewSession): Promise<string> {
  const { task_id, auditor_id, reason = null, scope, at, actor } = session;
  const sessionNo = await nextNumber(db, 'session');
  const session_id = formatSessionId(sessionNo);
  const salt = createSalt();
  const digest = saltedDigest('session', salt, sessionContent({ auditor_id, reason }));
  const index = await append(db, {
    v: 1,
    kind: 'session.started',
    at,
    actor,
    session_id,
    task_id,
    scope,
    session: digest,
  });
  db.send(
    `INSERT INTO sessions
       (session_no, start_idx, task_no, scope, auditor_id, reason, salt, started_at, started_by, record_count)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)`,
    [sessionNo, index, parseId(task_id), scope, auditor_id, reason, salt, at, actor],
  );
  return session_id;
}

/** The private content of a session; the log holds its digest. */
export function sessionContent({ auditor_id, reason }: Pick<SessionRow, 'auditor_id' | 'reason'>): string {
  return canonicalize({ auditor_id, reason });
}

/** The live sessions that cover a task: its own, and deep sessions of its ancestors. */
export async function coveringSessions(
  db: Reader,
  task: { readonly task_id: string; readonly parent_id: string | null },
): Promise<number[]> {
  const own = await findLiveSession(db, parseId(task.task_id));
  const numbers = own === undefined ? [] : [own.session_no];
  if (task.parent_id === null) return numbers;
  const inherited = await db.query<{ session_no: number }>(
    `WITH RECURSIVE ancestors (no) AS (
       SELECT CAST($1 AS BIGINT)
       UNION
       SELECT tasks.parent_no FROM tasks JOIN ancestors ON tasks.task_no = ancestors.no WHERE tasks.parent_no IS NOT NULL
     )
     SELECT session_no FROM sessions JOIN ancestors ON sessions.task_no = ancestors.no
     WHERE finalized_idx IS NULL AND scope = 'deep' ORDER BY session_no`,
    [parseId(task.parent_id)],
  );
  return [...new Set([...numbers, ...inherited.map(({ session_no }) => session_no)])].sort((a, b) => a - b);
}

/**
 * Reserves the next position in each session. Call before the entry is built, because the entry names the positions.
 */
export async function joinSessions(db: Transaction, sessionNos: readonly number[]): Promise<Membership[]> {
  const memberships: Membership[] = [];
  for (const sessionNo of sessionNos) {
    const [row] = await db.query<{ record_count: number }>(
      'UPDATE sessions SET record_count = record_count + 1 WHERE session_no = $1 RETURNING record_count',
      [sessionNo],
    );
    if (row === undefined) throw new Error(`no row for session ${sessionNo}`);
    memberships.push({ session_id: formatSessionId(sessionNo), session_seq: row.record_count });
  }
  return memberships;
}

/** Only for task events, which can belong to several sessions; a thought stores its one position in its own row. */
export function recordMemberships(db: Transaction, memberships: readonly Membership[], index: number): void {
  for (const { session_id, session_seq } of memberships) {
    db.send('INSERT INTO session_events (session_no, session_seq, idx) VALUES ($1, $2, $3)', [
      parseId(session_id),
      session_seq,
      index,
    ]);
  }
}

/** The last thought of each task's chain in a session. */
export async function listHeads(db: Reader, sessionNo: number) {
  const rows = await db.query<{ task_no: number; chain_position: number; hash: string }>(
    `SELECT thoughts.task_no, thoughts.chain_position, thoughts.hash FROM thoughts
     JOIN (SELECT task_no, MAX(chain_position) AS chain_position FROM thoughts WHERE session_no = $1 GROUP BY task_no) AS heads
       ON heads.task_no = thoughts.task_no AND heads.chain_position = thoughts.chain_position
     ORDER BY thoughts.task_no`,
    [sessionNo],
  );
  return rows.map(({ task_no, chain_position, hash }) => ({ task_id: formatTaskId(task_no), chain_position, hash }));
}
