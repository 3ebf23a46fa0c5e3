import type { Reader } from '../../db/database.ts';
import { formatSessionId, formatTaskId, formatThoughtId, parseId } from '../../ids.ts';
import { parseEntry } from '../../integrity/index.ts';
import { isLapsed } from '../tasks/claims/decide.ts';
import { isBusy } from '../tasks/claims/facts.ts';
import { type ClaimContext, readHolder } from '../tasks/claims/holder.ts';
import { listLosses } from '../tasks/claims/losses.ts';
import { listTasks } from '../tasks/list-query.ts';
import { listLapsedTasks, listNextActions, listOtherProjects, type NextAction } from '../tasks/next-actions.ts';
import { type Task, taskFields } from '../tasks/record.ts';
import { isHeldStatus, isOpen, type Status, WORKFLOWS } from '../tasks/workflows.ts';
import { findTrailTask, hasReasonInAttempt, type ThoughtRow } from '../trail/repository.ts';
import { findLiveSession } from '../trail/sessions.ts';
import type { Brief, ChangedTask, Decision, HeldTask } from './brief.ts';

const MAX_HELD = 5;
const MAX_CHANGED = 5;
const MAX_DECISIONS = 3;
const MAX_LAPSED = 3;

export interface BriefQuery {
  /** Undefined for a brief about every agent. */
  readonly agent: string | undefined;
  /** Dead agents that this one may continue. */
  readonly predecessors?: readonly string[] | undefined;
  readonly project: string;
}

/** Reads what a brief says. Every list is short, so that the reads stay cheap at any size of the ledger. */
export async function readBrief(db: Reader, query: BriefQuery, context: ClaimContext): Promise<Brief> {
  const { agent, project } = query;
  const last_call = agent === undefined ? undefined : await findLastCall(db, agent);
  const { tasks, total } = await listHeld(db, agent, project);
  const held: HeldTask[] = [];
  for (const task of tasks) held.push(await describeHeld(db, task, context));
  const [ready] = await listNextActions(db, { project, limit: 1, actor: agent }, context);
  const perhaps_yours = await listPerhapsHeld(db, query);
  const lapsed = (await listLapsedTasks(db, { project, limit: MAX_LAPSED, actor: agent }, context)).filter(
    ({ task_id }) => perhaps_yours.every((task) => task.task_id !== task_id),
  );
  return {
    agent,
    project,
    last_call,
    ...(agent === undefined
      ? { yours: [], yours_total: 0, in_work: held, in_work_total: total }
      : { yours: held, yours_total: total }),
    perhaps_yours,
    changed: await listChanged(db, { agent, project }, last_call),
    decisions: await listDecisions(
      db,
      project,
      tasks.map(({ task_id }) => parseId(task_id)),
    ),
    lapsed: lapsed.map(({ task_id, title, held_by, silent_for_s }) => ({ task_id, title, held_by, silent_for_s })),
    lost: agent === undefined ? [] : await listLost(db, agent),
    ...(ready === undefined ? { other_projects: await listOtherProjects(db, { project, actor: agent }) } : {}),
    ready: ready && (await describeReady(db, ready)),
  };
}

const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  ...WORKFLOWS.board.transitions,
  ...WORKFLOWS.pipeline.transitions,
};
/** The states of a task that an agent works on. */
const HELD = (Object.keys(TRANSITIONS) as Status[]).filter(
  (status) => isOpen(status) && !['backlog', 'todo', 'INIT'].includes(status),
);

/** A review ends the claim, but who did the work has to finish it. */
const REVIEWED: Status[] = ['review', 'VERIFY'];

function isReviewed(status: string): boolean {
  return REVIEWED.some((reviewed) => reviewed === status);
}

type HeldRow = Pick<Task, 'task_id' | 'title' | 'status' | 'assignee' | 'holder'>;
const heldFields = taskFields.select(['task_id', 'title', 'status', 'assignee', 'holder']);

interface HeldRows {
  readonly tasks: readonly HeldRow[];
  readonly total: number;
}

/**
 * What the agent holds in any project, then what it has in review. Without an agent, what is in work in one project.
 */
async function listHeld(db: Reader, agent: string | undefined, project: string): Promise<HeldRows> {
  const page = { limit: MAX_HELD, offset: 0, sort_by: 'updated', sort_order: 'desc' } as const;
  if (agent === undefined) {
    const { tasks, total } = await listTasks(db, { ...page, project, status: HELD });
    const rows: HeldRow[] = [];
    for (const task of tasks) rows.push({ ...task, holder: await findHolder(db, task.task_id) });
    return { tasks: rows, total };
  }
  const [counted] = await db.query<{ held: number }>('SELECT COUNT(*) AS held FROM tasks WHERE holder = $1', [agent]);
  const reviewed = await listTasks(db, { ...page, assignee: agent, status: REVIEWED });
  const tasks = [...(await listClaims(db, agent)), ...reviewed.tasks.map((task) => ({ ...task, holder: null }))].slice(
    0,
    MAX_HELD,
  );
  return { tasks, total: (counted?.held ?? 0) + reviewed.total };
}

/** What dead agents hold that this one may continue, unless it works on something else. */
async function listPerhapsHeld(db: Reader, { agent, predecessors = [] }: BriefQuery): Promise<Brief['perhaps_yours']> {
  const tasks: HeldRow[] = [];
  for (const holder of predecessors)
    if (agent !== undefined && tasks.length < MAX_HELD && !(await isBusy(db, agent, holder)))
      tasks.push(...(await listClaims(db, holder)));
  return tasks.slice(0, MAX_HELD).map(({ task_id, title, status, holder }) => ({
    task_id,
    title,
    status,
    holder: holder ?? '',
  }));
}

async function listClaims(db: Reader, holder: string): Promise<HeldRow[]> {
  const rows = await db.query(
    `SELECT ${heldFields.columns} FROM tasks WHERE holder = $1 ORDER BY updated_at DESC, task_no DESC LIMIT ${MAX_HELD}`,
    [holder],
  );
  return rows.map((row) => heldFields.read(row));
}

async function findHolder(db: Reader, taskId: string): Promise<string | null> {
  const [row] = await db.query<{ holder: string | null }>('SELECT holder FROM tasks WHERE task_no = $1', [
    parseId(taskId),
  ]);
  return row?.holder ?? null;
}

async function describeHeld(db: Reader, row: HeldRow, context: ClaimContext): Promise<HeldTask> {
  const { task_id, title, status, assignee, holder } = row;
  const taskNo = parseId(task_id);
  const session = await findLiveSession(db, taskNo);
  const attempt = (await findTrailTask(db, task_id))?.attempt ?? 1;
  const [forward = status] = TRANSITIONS[status] ?? [];
  const lapsed = holder !== null && isLapsed(row, await readHolder(db, holder, context), context.ttlMs);
  return {
    task_id,
    title,
    status,
    holder: holder ?? assignee,
    lapsed,
    session_id: session === undefined ? undefined : formatSessionId(session.session_no),
    has_thought: await hasReasonInAttempt(db, taskNo, attempt),
    next_status: status === 'blocked' ? 'in_progress' : forward,
  };
}

async function describeReady(db: Reader, { task_id, title, lapsed }: NextAction): Promise<Brief['ready']> {
  const [row] = await db.query<{ status: string }>('SELECT status FROM tasks WHERE task_no = $1', [parseId(task_id)]);
  const status = row?.status ?? '';
  // A started task without a holder is claimed by naming the status that it has.
  const next_status = lapsed || isHeldStatus(status) ? status : (TRANSITIONS[status]?.[0] ?? status);
  return { task_id, title, next_status, is_review: isReviewed(status) };
}

/** The agent's tasks that others took over. */
async function listLost(db: Reader, agent: string): Promise<Brief['lost']> {
  const own = (await listLosses(db)).losses.filter(({ actor }) => actor === agent).slice(0, MAX_LAPSED);
  return own.map(({ task_id, title, taken_by }) => ({ task_id, title, taken_by }));
}

async function findLastCall(db: Reader, agent: string): Promise<Brief['last_call']> {
  const [row] = await db.query<{ idx: number; entry: string }>(
    `SELECT idx, entry FROM ledger_entries WHERE idx = (SELECT MAX(sequence_no) FROM presence WHERE actor = $1)`,
    [agent],
  );
  return row && { entry: row.idx, at: parseEntry(row.entry)?.at ?? '' };
}

/** The clocks of two machines may differ by less. */
const CLOCK_SLACK_MS = 600_000;

const changedFields = taskFields.select(['task_id', 'title', 'status', 'updated_by', 'updated_at']);

async function listChanged(
  db: Reader,
  { agent, project }: BriefQuery,
  last: Brief['last_call'],
): Promise<readonly ChangedTask[]> {
  const rows = await db.query(
    `SELECT ${changedFields.columns} FROM tasks
     WHERE project = $1 AND updated_at >= $2 AND event_idx > $3 AND updated_by <> $4
     ORDER BY updated_at DESC, task_no DESC LIMIT $5`,
    [
      project,
      last === undefined ? 0 : Date.parse(last.at) - CLOCK_SLACK_MS,
      last?.entry ?? -1,
      agent ?? '',
      MAX_CHANGED,
    ],
  );
  return rows.map((row) => changedFields.read(row));
}

type DecisionRow = Pick<ThoughtRow, 'thought_no' | 'task_no' | 'content' | 'recorded_at' | 'recorded_by'>;
const DECISION_COLUMNS = 'thought_no, task_no, content, recorded_at, recorded_by';
/** Thoughts have no index on their type. */
const SEARCHED_THOUGHTS = 500;

async function listDecisions(db: Reader, project: string, held: readonly number[]): Promise<Decision[]> {
  const own: DecisionRow[] = [];
  for (const taskNo of held) own.push(...(await listTaskDecisions(db, taskNo)));
  const rows = own.length > 0 ? own : await listProjectDecisions(db, project);
  return rows
    .sort((left, right) => right.thought_no - left.thought_no)
    .slice(0, MAX_DECISIONS)
    .map(({ thought_no, task_no, ...decision }) => ({
      thought_id: formatThoughtId(thought_no),
      task_id: formatTaskId(task_no),
      ...decision,
    }));
}

function listTaskDecisions(db: Reader, taskNo: number): Promise<DecisionRow[]> {
  return db.query<DecisionRow>(
    `SELECT ${DECISION_COLUMNS} FROM (
       SELECT ${DECISION_COLUMNS}, type, chain_position FROM thoughts
       WHERE task_no = $1 ORDER BY chain_position DESC LIMIT ${SEARCHED_THOUGHTS}
     ) AS newest
     WHERE type = 'decision' ORDER BY chain_position DESC LIMIT ${MAX_DECISIONS}`,
    [taskNo],
  );
}

function listProjectDecisions(db: Reader, project: string): Promise<DecisionRow[]> {
  return db.query<DecisionRow>(
    `SELECT thought_no, newest.task_no, content, recorded_at, recorded_by FROM (
       SELECT ${DECISION_COLUMNS}, type FROM thoughts ORDER BY thought_no DESC LIMIT ${SEARCHED_THOUGHTS}
     ) AS newest JOIN tasks ON tasks.task_no = newest.task_no
     WHERE type = 'decision' AND tasks.project = $1 ORDER BY thought_no DESC LIMIT ${MAX_DECISIONS}`,
    [project],
  );
}
