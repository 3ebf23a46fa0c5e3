import type { Reader, Row } from '../../db/database.ts';
import { formatTaskId } from '../../ids.ts';
import { PRIORITIES } from '../../integrity/index.ts';
import type { ClaimContext } from './claims/holder.ts';
import { type LapsedRow, listLapsed } from './claims/lapsed.ts';
import { waitsFor } from './dependencies.ts';
import { offered, type Present, withoutNulls } from './output.ts';
import { READY, WAITING } from './record.ts';
import { hasProject, listUnmet } from './repository.ts';

export type NextAction = Present<ReturnType<typeof offered.read>> & {
  readonly dependencies_unmet: number;
} & Lapse;

/** Set if the claim has lapsed, or if the task was started and has no holder: another agent may claim it. */
interface Lapse {
  readonly lapsed?: true;
  /** The holder; the assignee if there is none. */
  readonly held_by?: string;
  readonly silent_for_s?: number;
}

export interface BlockedTask extends Lapse {
  readonly task_id: string;
  readonly title: string;
  readonly blocked_reason: string;
  readonly dependencies_unmet: number;
}

/** Whether an open task waits for another one. Not EXISTS, for which PostgreSQL may read the rows of all tasks. */
const WAITS = '(SELECT unmet FROM task_unmet WHERE task_unmet.task_no = tasks.task_no) IS NOT NULL';

export interface Queue {
  readonly project: string;
  readonly limit: number;
  /** Tasks that this actor holds are offered to it, if their workflow has no other state for work. */
  readonly actor?: string | undefined;
}

/** Free tasks and those whose claim has lapsed: highest priority first, of the same priority the free ones first. */
export async function listNextActions(db: Reader, queue: Queue, context: ClaimContext): Promise<NextAction[]> {
  const { limit } = queue;
  const free = await listFreeTasks(db, queue);
  const takeable = await listLapsedTasks(db, queue, context);
  const rank = ({ priority }: NextAction) => PRIORITIES.indexOf(priority);
  // Stable: each group keeps its oldest first.
  const offers = [...free, ...takeable].sort((one, other) => rank(other) - rank(one));
  return cutOffers(offers, limit);
}

/** A full page ends with a lapsed task of the same priority: it must not stay hidden while many tasks are free. */
function cutOffers(offers: readonly NextAction[], limit: number): NextAction[] {
  const page = offers.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined || limit === 1 || page.some(({ lapsed }) => lapsed)) return page;
  const hidden = offers.find(({ lapsed, priority }) => lapsed && priority === last.priority);
  return hidden === undefined ? page : [...page.slice(0, -1), hidden];
}

/** Tasks that are ready, wait for nothing and are not held by others: highest priority first, then oldest. */
export async function listFreeTasks(db: Reader, { project, limit, actor }: Queue): Promise<NextAction[]> {
  const rows = await db.query(
    `SELECT ${offered.columns} FROM tasks
     WHERE project = $1 AND is_ready = ${READY} AND (holder IS NULL OR holder = $3)
     ORDER BY priority DESC, task_no LIMIT $2`,
    [project, limit, actor ?? null],
  );
  return rows.map(toAction);
}

const MAX_OTHER_PROJECTS = 3;
const MAX_LOOKS = 10;

/** The first other projects with free tasks, for an agent that finds none in its own. */
export async function listOtherProjects(db: Reader, { project, actor }: Omit<Queue, 'limit'>): Promise<string[]> {
  const found: string[] = [];
  let after = '';
  for (let looks = 0; looks < MAX_LOOKS && found.length < MAX_OTHER_PROJECTS; looks += 1) {
    // One look into the index for each project, whatever the number of tasks.
    const [row] = await db.query<{ project: string | null }>(
      `SELECT MIN(project) AS project FROM tasks WHERE is_ready = ${READY} AND project > $1`,
      [after],
    );
    if (row === undefined || row.project === null) break;
    after = row.project;
    if (after === project) continue;
    const free = await listFreeTasks(db, { project: after, limit: 1, actor });
    if (free.length > 0) found.push(after);
  }
  return found;
}

/** For an agent that may not know of other projects than its own. */
export async function hintOfEmptyQueue(db: Reader, queue: Queue): Promise<{ readonly hint?: string }> {
  const { project } = queue;
  const others = await listOtherProjects(db, queue);
  const [first] = others;
  if (first !== undefined)
    return {
      hint: `nothing is ready in project ${project}; tasks are ready in ${others.join(', ')}: call task_next_actions with project ${first}`,
    };
  if (await hasProject(db, project)) return {};
  return { hint: 'no tasks yet; call task_create with status todo to add one' };
}

/** Tasks whose claim has lapsed and that wait for nothing: highest priority first, then oldest. */
export async function listLapsedTasks(db: Reader, queue: Queue, context: ClaimContext): Promise<NextAction[]> {
  const condition = `NOT (${WAITS})`;
  const lapsed = await listLapsed(db, { ...queue, columns: offered.columns, condition }, context);
  return lapsed.map((found) => ({ ...toAction(found.row), ...toLapse(found) }));
}

/** The first task whose claim has lapsed, even if it waits for others. */
export async function findLapsedTask(db: Reader, project: string, context: ClaimContext): Promise<string | undefined> {
  const query = { project, limit: 1, columns: 'task_no', condition: '1 = 1' };
  const [first] = await listLapsed(db, query, context);
  return first && formatTaskId(Number(first.row['task_no']));
}

function toLapse({ heldBy, silentMs }: LapsedRow): Lapse {
  return {
    lapsed: true,
    ...(heldBy === undefined ? {} : { held_by: heldBy }),
    ...(silentMs === undefined ? {} : { silent_for_s: Math.floor(silentMs / 1000) }),
  };
}

function toAction(row: Row): NextAction {
  return { ...withoutNulls(offered.read(row)), dependencies_unmet: 0 };
}

type BlockedRow = Row & {
  readonly task_no: number;
  readonly title: string;
  readonly blocked_reason: string | null;
  readonly priority: number;
};
const BLOCKED_COLUMNS = 'task_no, title, blocked_reason, priority';

/** Tasks that are blocked or wait for others, with the reason; also those whose claim has lapsed since. */
export async function listBlocked(db: Reader, queue: Queue, context: ClaimContext): Promise<BlockedTask[]> {
  const found = await listLapsed(db, { ...queue, columns: BLOCKED_COLUMNS, condition: WAITS }, context);
  const lapsed = new Map(found.map(({ row, ...lapse }) => [Number(row['task_no']), { row, ...lapse }]));
  const rows = (await listBlockedRows(db, queue)).filter(({ task_no }) => !lapsed.has(task_no));
  const ordered = [...rows, ...found.map(({ row }) => row as BlockedRow)]
    .sort((one, other) => other.priority - one.priority || one.task_no - other.task_no)
    .slice(0, queue.limit);
  // Sent together: one round trip.
  const awaited = await Promise.all(ordered.map(({ task_no }) => listUnmet(db, task_no)));
  return ordered.map(({ task_no, title, blocked_reason }, place) => {
    const unmet = awaited[place] ?? [];
    const lapse = lapsed.get(task_no);
    return {
      task_id: formatTaskId(task_no),
      title,
      blocked_reason: blocked_reason ?? waitsFor(unmet),
      dependencies_unmet: unmet.length,
      ...(lapse === undefined ? {} : toLapse(lapse)),
    };
  });
}

/** Tasks that are blocked, or ready and waiting for others. */
function listBlockedRows(db: Reader, { project, limit }: Queue): Promise<BlockedRow[]> {
  // Each part is read from the index that has its order, up to the limit.
  const part = (condition: string, name: string) =>
    `SELECT * FROM (SELECT ${BLOCKED_COLUMNS} FROM tasks WHERE project = $1 AND ${condition}
       ORDER BY priority DESC, task_no LIMIT $2) AS ${name}`;
  return db.query<BlockedRow>(
    `${part('blocked_reason IS NOT NULL', 'blocked')} UNION ALL ${part(`is_ready = ${WAITING}`, 'waiting')}
     ORDER BY priority DESC, task_no LIMIT $2`,
    [project, limit],
  );
}
