import type { Reader } from '../../db/database.ts';
import { formatTaskId, parseId } from '../../ids.ts';
import { PRIORITIES } from '../../integrity/index.ts';
import { type ListedTask, listTasks } from './list-query.ts';
import { taskFields } from './record.ts';
import { listUnmet, projectCounter } from './repository.ts';
import { isOpen, isReady, type Status, WORKFLOWS, type WorkflowName, workflowOf } from './workflows.ts';

export interface Card extends Pick<ListedTask, 'task_id' | 'title' | 'priority' | 'progress' | 'assignee'> {
  readonly blocked_reason?: string;
  /** The open tasks that this one waits for. */
  readonly waits_for: readonly string[];
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

/** The tasks of a project in columns; the board of the pipeline only if it has tasks. */
export async function readBoards(db: Reader, project: string, limit: number): Promise<Board[]> {
  const counts = await countByStatus(db, project);
  const boards: Board[] = [];
  for (const workflow of Object.keys(WORKFLOWS) as WorkflowName[]) {
    const columns: Column[] = [];
    for (const status of Object.keys(workflowOf(workflow).transitions) as Status[]) {
      const count = counts.get(status) ?? 0;
      // A limit of the known count ends the scan at the last match.
      const cards =
        count === 0 ? [] : await listCards(db, { project, workflow, status, limit: Math.min(limit, count) });
      columns.push({ status, count, cards });
    }
    if (workflow === 'board' || columns.some(({ count }) => count > 0)) boards.push({ project, workflow, columns });
  }
  return boards;
}

/** The number of tasks per status, from stored counts. */
export async function countByStatus(db: Reader, project: string): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ status: string; total: number }>(
    'SELECT status, SUM(tasks) AS total FROM task_counts WHERE project = $1 GROUP BY status',
    [project],
  );
  return new Map(rows.map(({ status, total }) => [status, total]));
}

interface ColumnQuery {
  readonly project: string;
  readonly workflow: WorkflowName;
  readonly status: Status;
  readonly limit: number;
}

async function listCards(db: Reader, query: ColumnQuery): Promise<Card[]> {
  const rows = await listRows(db, query);
  const cards: Card[] = [];
  for (const { task_id, title, priority, progress, assignee, blocked_reason } of rows) {
    const waits_for = isOpen(query.status) ? await listUnmet(db, parseId(task_id)) : [];
    const reason = blocked_reason ? { blocked_reason } : {};
    cards.push({ task_id, title, priority, progress, assignee, ...reason, waits_for });
  }
  return cards;
}

type CardRow = Omit<Card, 'waits_for' | 'blocked_reason'> & { readonly blocked_reason?: string | null };

/** By priority where an index has that order; elsewhere the last changed, open ones sorted by priority. */
function listRows(db: Reader, query: ColumnQuery): Promise<CardRow[]> {
  if (isReady(query.workflow, query.status)) return listUrgent(db, 'is_ready = 1', query);
  if (query.status === 'blocked') return listUrgent(db, 'blocked_reason IS NOT NULL', query);
  return listNewest(db, query);
}

const urgent = taskFields.select(['task_id', 'title', 'priority', 'progress', 'assignee', 'blocked_reason']);

async function listUrgent(db: Reader, indexed: string, { project, status, limit }: ColumnQuery): Promise<CardRow[]> {
  const rows = await db.query(
    `SELECT ${urgent.columns} FROM tasks
     WHERE project = $1 AND status = $2 AND ${indexed} ORDER BY priority DESC, task_no LIMIT $3`,
    [project, status, limit],
  );
  return rows.map((row) => urgent.read(row));
}

async function listNewest(db: Reader, { project, status, limit }: ColumnQuery): Promise<CardRow[]> {
  const { tasks } = await listTasks(db, {
    project,
    status: [status],
    limit,
    offset: 0,
    sort_by: 'updated',
    sort_order: 'desc',
  });
  return isOpen(status) ? tasks.toSorted((a, b) => rank(b) - rank(a)) : tasks;
}

function rank({ priority }: ListedTask): number {
  return PRIORITIES.indexOf(priority);
}
