import type { Clock, Transaction } from '../db/database.ts';
import { dialectOf } from '../db/dialect.ts';
import { type Entry, subagentKeys } from '../integrity/index.ts';

interface SignRow {
  readonly sequence_no: number;
  readonly actor: string;
  readonly clock_id: string | null;
  readonly clock_ms: number | null;
  readonly now_ms: number;
}

/**
 * An event of a session is a sign of life of the agents that hold the tasks of the session and of its sub-agents. A
 * task is held by the agent of the session if the claim whose fencing token passed by is still the claim on the task.
 * `nowMs` is the wall clock: an event that has been waiting is as old as its time says.
 */
export async function renewSigns(
  db: Transaction,
  clock: Clock,
  entries: readonly Entry[],
  nowMs: number,
): Promise<void> {
  for (const [session, at] of newestTimes(entries)) {
    const rows = await db.query<SignRow>(
      `SELECT DISTINCT sequence_no, actor, clock_id, clock_ms, now_ms FROM observed_sessions
       JOIN tasks ON tasks.task_no = observed_sessions.task_no AND tasks.claim_idx = observed_sessions.claim_idx
       JOIN presence ON presence.actor = tasks.holder
       CROSS JOIN (SELECT ${dialectOf(db).clock('$1')} AS now_ms) AS clock
       WHERE (session = $2 OR (session > $3 AND session < $4))
         AND sequence_no = (SELECT MAX(newest.sequence_no) FROM presence AS newest WHERE newest.actor = tasks.holder)`,
      [clock.nowMs(), session, ...subagentKeys(session)],
    );
    for (const row of rows) renew(db, clock, row, Math.max(0, nowMs - Date.parse(at)));
  }
}

function renew(db: Transaction, clock: Clock, row: SignRow, ageMs: number): void {
  const signMs = row.now_ms - ageMs;
  const isComparable = row.clock_id === clock.id && row.clock_ms !== null && row.clock_ms <= row.now_ms;
  // A time before the clock began says nothing.
  if (signMs < 0 || (isComparable && (row.clock_ms ?? 0) >= signMs)) return;
  db.send('DELETE FROM presence WHERE sequence_no = $1', [row.sequence_no]);
  db.send('INSERT INTO presence (sequence_no, actor, clock_id, clock_ms) VALUES ($1, $2, $3, $4)', [
    row.sequence_no,
    row.actor,
    clock.id,
    signMs,
  ]);
}

/** The time of the newest event of each session. */
function newestTimes(entries: readonly Entry[]): Map<string, string> {
  const newest = new Map<string, string>();
  for (const { kind, session, at } of entries)
    if (kind === 'observed' && typeof session === 'string' && at > (newest.get(session) ?? '')) newest.set(session, at);
  return newest;
}
