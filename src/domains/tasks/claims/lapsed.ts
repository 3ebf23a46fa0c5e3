import type { Reader, Row } from '../../../db/database.ts';
import { isPerson } from '../../../integrity/index.ts';
import { clockSql } from '../../../ledger/presence/clock-sql.ts';
import { DEAD_PROCESS_TTL_MS, dependsOnProcess, type HolderState, isLapsed } from './decide.ts';
import { type ClaimContext, readHolder } from './holder.ts';

export interface LapsedRow {
  readonly row: Row;
  readonly heldBy: string;
  readonly silentMs: number;
}

export interface LapsedQuery {
  readonly project: string;
  readonly columns: string;
  /** SQL that is true for a task that waits for others. */
  readonly waits: string;
  readonly limit: number;
}

/**
 * Tasks whose claim has lapsed and that wait for nothing, highest priority first. Reads the signs of life of all actors
 * and which tasks silent ones hold; how many other tasks there are does not matter.
 */
export async function listLapsed(db: Reader, query: LapsedQuery, context: ClaimContext): Promise<LapsedRow[]> {
  if (context.ttlMs === undefined) return [];
  const states = new Map<string, HolderState>();
  const lapsed: LapsedRow[] = [];
  let candidates: Candidate[] = [];
  for (const task of await listSilentlyHeld(db, query.project, context)) {
    if (isPerson(task.holder)) continue;
    const state = states.get(task.holder) ?? (await readState(db, task, context));
    states.set(task.holder, state);
    if (!isLapsed(task, state, context.ttlMs)) continue;
    candidates.push({ taskNo: task.task_no, heldBy: task.holder, silentMs: state.silentMs });
    if (candidates.length < query.limit) continue;
    lapsed.push(...(await readOffered(db, candidates, query)));
    if (lapsed.length >= query.limit) return lapsed.slice(0, query.limit);
    candidates = [];
  }
  return [...lapsed, ...(await readOffered(db, candidates, query))].slice(0, query.limit);
}

interface SilentlyHeld {
  readonly task_no: number;
  readonly status: string;
  readonly holder: string;
  /** Null if the shared clock says nothing about the holder. */
  readonly silent_ms: number | null;
}

/** The tasks of actors without a sign of life in the shortest time that lapses a claim, in the order of the queue. */
function listSilentlyHeld(
  db: Reader,
  project: string,
  { ttlMs = 0, liveness: { clock } }: ClaimContext,
): Promise<SilentlyHeld[]> {
  const nowMs = clockSql(db.engine, '$1');
  // `project || ''` keeps SQLite from reading all tasks of the project: few tasks are held.
  return db.query<SilentlyHeld>(
    `SELECT task_no, status, holder, silent_ms FROM (
       SELECT actor, MIN(CASE WHEN clock_id = $2 AND clock_ms <= ${nowMs} THEN ${nowMs} - clock_ms END) AS silent_ms
       FROM presence GROUP BY actor
     ) AS signs JOIN tasks ON tasks.holder = signs.actor
     WHERE COALESCE(silent_ms, $3) >= CAST($3 AS BIGINT) AND project || '' = $4 AND blocked_reason IS NULL
     ORDER BY priority DESC, task_no`,
    [clock.nowMs(), clock.id, Math.min(ttlMs, DEAD_PROCESS_TTL_MS), project],
  );
}

/** Most claims are decided by the silence alone. */
async function readState(db: Reader, { holder, silent_ms }: SilentlyHeld, context: ClaimContext): Promise<HolderState> {
  if (silent_ms === null || dependsOnProcess(silent_ms, context.ttlMs)) return readHolder(db, holder, context);
  return { silentMs: silent_ms, hasProcess: true };
}

interface Candidate {
  readonly taskNo: number;
  readonly heldBy: string;
  readonly silentMs: number;
}

/** The candidates that wait for nothing, in their order, with the columns that the queue shows. */
async function readOffered(
  db: Reader,
  candidates: readonly Candidate[],
  { columns, waits, limit }: LapsedQuery,
): Promise<LapsedRow[]> {
  if (candidates.length === 0) return [];
  // As many parameters as the limit, so that one prepared statement serves every number of candidates.
  const numbers = Array.from({ length: limit }, (_, place) => candidates[place]?.taskNo ?? null);
  const places = numbers.map((_, place) => `CAST($${place + 1} AS BIGINT)`).join(', ');
  const rows = await db.query<Row & { readonly offered_no: number }>(
    `SELECT ${columns}, task_no AS offered_no FROM tasks WHERE task_no IN (${places}) AND NOT (${waits})`,
    numbers,
  );
  const byNumber = new Map(rows.map((row) => [row.offered_no, row]));
  return candidates.flatMap(({ taskNo, heldBy, silentMs }) => {
    const row = byNumber.get(taskNo);
    return row === undefined ? [] : { row, heldBy, silentMs };
  });
}
