import type { Reader, Row } from '../../../db/database.ts';
import { isPerson } from '../../../integrity/index.ts';
import { clockSql } from '../../../ledger/presence/clock-sql.ts';
import { DEAD_PROCESS_TTL_MS, type HolderState, isLapsed } from './decide.ts';
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
 * and the tasks that silent ones hold; how many other tasks there are does not matter.
 */
export async function listLapsed(db: Reader, query: LapsedQuery, context: ClaimContext): Promise<LapsedRow[]> {
  const { ttlMs, liveness } = context;
  if (ttlMs === undefined) return [];
  const nowMs = clockSql(db.engine, '$1');
  // `project || ''` keeps SQLite from reading all tasks of the project: few tasks are held.
  const rows = await db.query(
    `SELECT ${query.columns}, holder, status FROM tasks
     WHERE holder IS NOT NULL AND holder IN (
       SELECT actor FROM presence GROUP BY actor
       HAVING MAX(CASE WHEN clock_id = $2 AND clock_ms <= ${nowMs} AND clock_ms > ${nowMs} - CAST($3 AS BIGINT)
                  THEN 1 ELSE 0 END) = 0
     ) AND project || '' = $4 AND blocked_reason IS NULL AND NOT (${query.waits})
     ORDER BY priority DESC, task_no`,
    [liveness.clock.nowMs(), liveness.clock.id, Math.min(ttlMs, DEAD_PROCESS_TTL_MS), query.project],
  );
  const states = new Map<string, HolderState>();
  const lapsed: LapsedRow[] = [];
  for (const row of rows) {
    if (lapsed.length === query.limit) break;
    const { holder, status } = row as Row & { readonly holder: string; readonly status: string };
    if (isPerson(holder)) continue;
    const state = states.get(holder) ?? (await readHolder(db, holder, context));
    states.set(holder, state);
    if (isLapsed({ holder, status }, state, ttlMs)) lapsed.push({ row, heldBy: holder, silentMs: state.silentMs });
  }
  return lapsed;
}
