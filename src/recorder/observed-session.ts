import type { Reader, Transaction } from '../db/database.ts';
import { formatTaskId, taskNumber } from '../ids.ts';
import {
  type Attachment,
  canonicalize,
  claimAfterEvent,
  type Entry,
  listAttachments,
  type OpenCalls,
  openCallsAfter,
  parseEntry,
  parseJson,
  subagentKey,
} from '../integrity/index.ts';

/** Which task a session of a client, or a sub-agent of it, holds after its last event. */
export interface HeldTask {
  readonly taskNo: number | null;
  /** The fencing token of the claim by which it holds the task. */
  readonly claim: number | null;
}

/** What the log says about a session of a client after its last event. */
export interface ObservedSession extends HeldTask {
  readonly openCalls: OpenCalls;
}

export const NEW_SESSION: ObservedSession = { taskNo: null, claim: null, openCalls: {} };

interface SessionRow {
  readonly task_no: number | null;
  readonly claim_idx: number | null;
  readonly open_calls: string | null;
  readonly entry: string | null;
}

export async function readSession(db: Reader, session: string): Promise<ObservedSession> {
  const row = await readRow(db, session);
  if (row === undefined) return NEW_SESSION;
  const openCalls = row.open_calls === null ? {} : (parseJson(row.open_calls) as OpenCalls);
  return { taskNo: row.task_no, claim: row.claim_idx, openCalls };
}

/** Undefined unless the sub-agent has claimed a task itself, and has not ended since. */
export async function readSubagent(db: Reader, { session, agent }: Entry): Promise<HeldTask | undefined> {
  const row = agent === undefined ? undefined : await readRow(db, subagentKey(session, agent));
  if (row === undefined) return undefined;
  const hasEnded = row.task_no === null && parseEntry(row.entry ?? '')?.['phase'] === 'subagent_stop';
  return hasEnded ? undefined : { taskNo: row.task_no, claim: row.claim_idx };
}

async function readRow(db: Reader, key: string): Promise<SessionRow | undefined> {
  const [row] = await db.query<SessionRow>(
    `SELECT task_no, claim_idx, open_calls, (SELECT entry FROM ledger_entries WHERE idx = last_idx) AS entry
     FROM observed_sessions WHERE session = $1`,
    [key],
  );
  return row;
}

/** Stores which tasks are held after an entry, and which calls of the session are open. */
export function writeSession(
  db: Transaction,
  entry: Entry,
  index: number,
  session: ObservedSession,
  subagent: HeldTask | undefined,
): void {
  const [ofSession, ofSubagent] = listAttachments(entry);
  const open = openCallsAfter(session.openCalls, entry, index);
  writeRow(db, ofSession, index, session, Object.keys(open).length === 0 ? null : canonicalize(open));
  if (ofSubagent !== undefined) writeRow(db, ofSubagent, index, subagent ?? NEW_SESSION, null);
}

function writeRow(db: Transaction, held: Attachment, index: number, before: HeldTask, openCalls: string | null): void {
  const task = before.taskNo === null ? undefined : formatTaskId(before.taskNo);
  const claim = claimAfterEvent({ task, claim: before.claim }, held);
  db.send(
    `INSERT INTO observed_sessions (session, last_idx, task_no, claim_idx, open_calls) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (session) DO UPDATE SET last_idx = $2, task_no = $3, claim_idx = $4, open_calls = $5`,
    [held.key, index, held.task === undefined ? null : taskNumber(held.task), claim, openCalls],
  );
}
