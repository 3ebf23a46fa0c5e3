import type { Reader, Row } from '../../../db/database.ts';
import { dialectOf } from '../../../db/dialect.ts';
import { isPerson } from '../../../integrity/index.ts';
import { UNASSIGNED } from '../workflows.ts';
import { dependsOnProcess, type HolderState, isLapsed, shortestTtlMs } from './decide.ts';
import { type ClaimContext, readHolder } from './holder.ts';

export interface LapsedRow {
  readonly row: Row;
  /** Undefined for a started task that has neither a holder nor an assignee. */
  readonly heldBy: string | undefined;
  /** Undefined if the ledger has no sign of life of that actor. */
  readonly silentMs: number | undefined;
}

export interface LapsedQuery {
  readonly project: string;
  readonly columns: string;
  /** SQL that selects among the lapsed tasks, such as those that wait for nothing. */
  readonly condition: string;
  readonly limit: number;
  /** What this actor holds is left out; a started task without a holder is offered to its assignee at once. */
  readonly actor?: string | undefined;
}

/**
 * Tasks whose claim has lapsed, highest priority first. Reads the signs of life of all actors and which tasks silent
 * ones hold; how many other tasks there are does not matter. Tasks that were started before claims were recorded have
 * no holder: the silence of their assignee decides.
 */
export async function listLapsed(db: Reader, query: LapsedQuery, context: ClaimContext): Promise<LapsedRow[]> {
  const states = new Map<string, HolderState>();
  const lapsed: LapsedRow[] = [];
  let candidates: Candidate[] = [];
  for (const task of await listStarted(db, query.project, context)) {
    const candidate = await examine(db, task, { query, context, states });
    if (candidate === undefined) continue;
    candidates.push(candidate);
    if (candidates.length < query.limit) continue;
    lapsed.push(...(await readOffered(db, candidates, query)));
    if (lapsed.length >= query.limit) return lapsed.slice(0, query.limit);
    candidates = [];
  }
  return [...lapsed, ...(await readOffered(db, candidates, query))].slice(0, query.limit);
}

interface StartedTask {
  readonly task_no: number;
  readonly priority: number;
  readonly status: string;
  readonly holder: string | null;
  readonly assignee: string;
  /** Null if the shared clock says nothing about the holder. */
  readonly silent_ms: number | null;
}

interface Examination {
  readonly query: LapsedQuery;
  readonly context: ClaimContext;
  /** The signs of life of each actor are read once. */
  readonly states: Map<string, HolderState>;
}

async function examine(
  db: Reader,
  task: StartedTask,
  { query, context, states }: Examination,
): Promise<Candidate | undefined> {
  const { task_no: taskNo, status, holder, assignee } = task;
  if (holder === null && assignee === UNASSIGNED) return { taskNo, heldBy: undefined, silentMs: undefined };
  const heldBy = holder ?? assignee;
  if (isPerson(heldBy) || holder === query.actor) return undefined;
  const state = states.get(heldBy) ?? (await readState(db, heldBy, task, context));
  states.set(heldBy, state);
  const isOwn = holder === null && heldBy === query.actor;
  if (!isOwn && !isLapsed({ status, holder: heldBy }, state, context.ttlMs)) return undefined;
  return { taskNo, heldBy, silentMs: state.silentMs === Number.POSITIVE_INFINITY ? undefined : state.silentMs };
}

async function listStarted(db: Reader, project: string, context: ClaimContext): Promise<StartedTask[]> {
  const held = await listSilentlyHeld(db, project, context);
  const unheld = await listUnheld(db, project);
  if (unheld.length === 0) return held;
  return [...held, ...unheld].sort((one, other) => other.priority - one.priority || one.task_no - other.task_no);
}

/** The tasks of actors without a sign of life in the shortest time that lapses a claim, in the order of the queue. */
function listSilentlyHeld(
  db: Reader,
  project: string,
  { ttlMs, liveness: { clock } }: ClaimContext,
): Promise<StartedTask[]> {
  const nowMs = dialectOf(db).clock('$1');
  // `project || ''` keeps SQLite from reading all tasks of the project: few tasks are held.
  return db.query<StartedTask>(
    `SELECT task_no, priority, status, holder, assignee, silent_ms FROM (
       SELECT actor, MIN(CASE WHEN clock_id = $2 AND clock_ms <= ${nowMs} THEN ${nowMs} - clock_ms END) AS silent_ms
       FROM presence GROUP BY actor
     ) AS signs JOIN tasks ON tasks.holder = signs.actor
     WHERE COALESCE(silent_ms, $3) >= CAST($3 AS BIGINT) AND project || '' = $4 AND blocked_reason IS NULL
     ORDER BY priority DESC, task_no`,
    [clock.nowMs(), clock.id, shortestTtlMs(ttlMs), project],
  );
}

/**
 * Tasks of the board that are in progress without a holder, in the order of the queue. The queue of free tasks has
 * those of pipelines. Two counts keep a ledger without such tasks from being searched.
 */
async function listUnheld(db: Reader, project: string): Promise<StartedTask[]> {
  const [counts] = await db.query<{ started: number | null; held: number }>(
    `SELECT (SELECT SUM(tasks) FROM task_counts WHERE project = $1 AND status = 'in_progress') AS started,
       (SELECT COUNT(*) FROM tasks WHERE holder IS NOT NULL AND project || '' = $1 AND status || '' = 'in_progress') AS held`,
    [project],
  );
  if (counts === undefined || (counts.started ?? 0) <= counts.held) return [];
  return db.query<StartedTask>(
    `SELECT task_no, priority, status, holder, assignee, NULL AS silent_ms FROM tasks
     WHERE project = $1 AND is_open = 1 AND status = 'in_progress' AND holder IS NULL ORDER BY priority DESC, task_no`,
    [project],
  );
}

/** Most claims are decided by the silence alone. */
async function readState(
  db: Reader,
  actor: string,
  { silent_ms }: StartedTask,
  context: ClaimContext,
): Promise<HolderState> {
  if (silent_ms !== null && !dependsOnProcess(silent_ms, context.ttlMs))
    return { silentMs: silent_ms, hasProcess: true };
  const state = await readHolder(db, actor, context);
  // An actor that never called is silent since 1970.
  return state.silentMs < state.nowMs ? state : { ...state, silentMs: Number.POSITIVE_INFINITY };
}

type Candidate = Omit<LapsedRow, 'row'> & { readonly taskNo: number };

/** The candidates that meet the condition, in their order, with the columns that the caller shows. */
async function readOffered(
  db: Reader,
  candidates: readonly Candidate[],
  { columns, condition, limit }: LapsedQuery,
): Promise<LapsedRow[]> {
  if (candidates.length === 0) return [];
  // The statement has as many parameters as the limit, so that it serves every number of candidates.
  const numbers = Array.from({ length: limit }, (_, place) => candidates[place]?.taskNo ?? null);
  const places = numbers.map((_, place) => `CAST($${place + 1} AS BIGINT)`).join(', ');
  const rows = await db.query<Row & { readonly offered_no: number }>(
    `SELECT ${columns}, task_no AS offered_no FROM tasks WHERE task_no IN (${places}) AND ${condition}`,
    numbers,
  );
  const byNumber = new Map(rows.map((row) => [row.offered_no, row]));
  return candidates.flatMap(({ taskNo, ...candidate }) => {
    const row = byNumber.get(taskNo);
    return row === undefined ? [] : { row, ...candidate };
  });
}
