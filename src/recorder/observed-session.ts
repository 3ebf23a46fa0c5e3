import type { Reader, Transaction } from '../db/database.ts';
import { formatTaskId } from '../ids.ts';
import {
  canonicalize,
  claimAfterEvent,
  type Entry,
  type OpenCalls,
  openCallsAfter,
  parseJson,
} from '../integrity/index.ts';

/** What the log says about a session of a client after its last event. */
export interface ObservedSession {
  readonly taskNo: number | null;
  /** The fencing token of the claim by which it holds the task. */
  readonly claim: number | null;
  readonly openCalls: OpenCalls;
}

export const NEW_SESSION: ObservedSession = { taskNo: null, claim: null, openCalls: {} };

export async function readSession(db: Reader, session: string): Promise<ObservedSession> {
  const [row] = await db.query<{ task_no: number | null; claim_idx: number | null; open_calls: string | null }>(
    'SELECT task_no, claim_idx, open_calls FROM observed_sessions WHERE session = $1',
    [session],
  );
  if (row === undefined) return NEW_SESSION;
  const openCalls = row.open_calls === null ? {} : (parseJson(row.open_calls) as OpenCalls);
  return { taskNo: row.task_no, claim: row.claim_idx, openCalls };
}

export function writeSession(
  db: Transaction,
  session: string,
  entry: Entry,
  index: number,
  before: ObservedSession,
  taskNo: number | null,
): void {
  const task = before.taskNo === null ? undefined : formatTaskId(before.taskNo);
  const claim = claimAfterEvent({ task, claim: before.claim }, entry);
  const openCalls = openCallsAfter(before.openCalls, entry, index);
  db.send(
    `INSERT INTO observed_sessions (session, last_idx, task_no, claim_idx, open_calls) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (session) DO UPDATE SET last_idx = $2, task_no = $3, claim_idx = $4, open_calls = $5`,
    [session, index, taskNo, claim, Object.keys(openCalls).length === 0 ? null : canonicalize(openCalls)],
  );
}
