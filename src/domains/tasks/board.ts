import type { Reader } from '../../db/database.ts';
import { formatTaskId, parseId } from '../../ids.ts';
import { countStates, type EvidenceCounts } from '../../integrity/evidence/compare.ts';
import { PRIORITIES } from '../../integrity/index.ts';
import { readEvidence } from '../evidence/repository.ts';
import { type ClaimView, createClaimReader } from './claims/claim-view.ts';
import type { ClaimContext } from './claims/holder.ts';
import { countByStatus, queryPage } from './list-query.ts';
import { type Present, withoutNulls } from './output.ts';
import { READY, taskFields, WAITING } from './record.ts';
import { listUnmet, projectCounter } from './repository.ts';
import type { ListInput } from './schema.ts';
import { isOpen, isReady, type Status, WORKFLOWS, type WorkflowName, workflowOf } from './workflows.ts';

const shown = taskFields.select([
  'task_id',
  'title',
  'priority',
  'progress',
  'assignee',
  'created_at',
  'updated_at',
  'blocked_reason',
  'holder',
]);

type Shown = ReturnType<typeof shown.read>;

/** The fields of a claim are there if the task is held. */
export interface Card extends Present<Shown>, Partial<ClaimView> {
  /** The open tasks that this one waits for. */
  readonly waits_for: readonly string[];
  /** How many of the tests and commits that its thoughts name are in each state; absent if they name none. */
  readonly evidence?: EvidenceCounts;
}

export interface Column {
  readonly status: string;
  /** The number of tasks with this status; `cards` may be cut. */
  readonly count: number;
  readonly cards: readonly Card[];
}

export interface Board {
  readonly project: string;
  readonly workflow: WorkflowName;
  readonly columns: readonly Column[];
}

/** The names of all projects, in order. */
export async function listProjects(db: Reader): Promise<string[]> {
  const prefix = projectCounter('');
  // "~" sorts after every character of a slug.
  const rows = await db.query<{ name: string }>(
    'SELECT name FROM counters WHERE name > $1 AND name < $2 ORDER BY name',
    [prefix, `${prefix}~`],
  );
  return rows.map(({ name }) => name.slice(prefix.length));
}

export async function findLastTaskId(db: Reader): Promise<string | undefined> {
  const [last] = await db.query<{ value: number }>("SELECT value FROM counters WHERE name = 'task'");
  return last && formatTaskId(last.value);
}

/** Which tasks a board shows; a status that is left out has no column. */
export interface BoardQuery extends Pick<ListInput, 'assignee' | 'label' | 'status' | 'search'> {
  readonly project: string;
  /** The most cards per column. */
  readonly limit: number;
}

/** The tasks of a project in columns; the board of the pipeline only if it has tasks. */
export async function readBoards(db: Reader, query: BoardQuery, context: ClaimContext): Promise<Board[]> {
  const { limit, ...filters } = query;
  const counts = await countByStatus(db, filters);
  const boards: Board[] = [];
  for (const workflow of Object.keys(WORKFLOWS) as WorkflowName[]) {
    const columns: Column[] = [];
    for (const status of Object.keys(workflowOf(workflow).transitions) as Status[]) {
      if (query.status?.includes(status) === false) continue;
      const count = counts.get(status) ?? 0;
      // A limit of the known count ends the scan at the last match.
      const column = { ...query, workflow, status, limit: Math.min(limit, count) };
      columns.push({ status, count, cards: count === 0 ? [] : await listCards(db, column, context) });
    }
    const isShown = workflow === 'board' ? columns.length > 0 : columns.some(({ count }) => count > 0);
    if (isShown) boards.push({ project: query.project, workflow, columns });
  }
  return boards;
}

interface ColumnQuery extends Omit<BoardQuery, 'status'> {
  readonly workflow: WorkflowName;
  readonly status: Status;
}

async function listCards(db: Reader, query: ColumnQuery, context: ClaimContext): Promise<Card[]> {
  const rows = await listRows(db, query);
  const readClaim = createClaimReader(db, context);
  const cards: Card[] = [];
  for (const row of rows) {
    const waits_for = isOpen(query.status) ? await listUnmet(db, parseId(row.task_id)) : [];
    const evidence = countStates((await readEvidence(db, parseId(row.task_id))).items);
    cards.push({
      ...withoutNulls(row),
      waits_for,
      ...(evidence === undefined ? {} : { evidence }),
      ...(await readClaim({ ...row, status: query.status })),
    });
  }
  return cards;
}

/**
 * Tasks are sorted by priority where an index has that order; otherwise the last changed ones, if open, by priority.
 */
async function listRows(db: Reader, query: ColumnQuery): Promise<Shown[]> {
  const { workflow, status, ...filters } = query;
  const isUrgent = isReady(workflow, status) || status === 'blocked';
  const input: ListInput = { ...filters, status: [status], offset: 0, sort_by: 'updated', sort_order: 'desc' };
  const page = isUrgent
    ? {
        keys: ['priority DESC', 'task_no'],
        parts: status === 'blocked' ? ['blocked_reason IS NOT NULL'] : [`is_ready = ${READY}`, `is_ready = ${WAITING}`],
      }
    : { keys: ['updated_at DESC', 'task_no DESC'] };
  const rows = (await queryPage(db, input, { ...page, columns: shown.columns })).map((row) => shown.read(row));
  return isUrgent || !isOpen(status) ? rows : rows.toSorted((a, b) => rank(b) - rank(a));
}

function rank({ priority }: Shown): number {
  return PRIORITIES.indexOf(priority);
}
