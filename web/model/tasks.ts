import { PRIORITIES, WORKFLOW_STATES } from '../../src/integrity/index.ts';
import { type BundleEntry, contentOf, textOf } from './records.ts';

export interface Task {
  readonly taskId: string;
  /** The newest entry about it. */
  readonly entry: BundleEntry;
  /** Absent if the content was left out. */
  readonly shown?: ShownTask;
  readonly decisions: number;
}

interface ShownTask {
  readonly title: string;
  readonly project: string;
  readonly status: string;
  readonly priority: string;
  readonly progress: number;
  readonly assignee: string;
  readonly holder: string;
  readonly blockedReason: string;
  readonly labels: readonly string[];
}

export interface Column {
  readonly status: string;
  readonly tasks: readonly Task[];
}

/** The tasks as the newest of the entries describes each. */
export function listTasks(entries: readonly BundleEntry[]): Task[] {
  const newest = new Map<string, BundleEntry>();
  const decisions = new Map<string, number>();
  for (const entry of entries) {
    const { kind, task_id: id } = entry.fields;
    if (typeof id !== 'string') continue;
    if (kind === 'task.created' || kind === 'task.updated') newest.set(id, entry);
    if (kind === 'thought') decisions.set(id, (decisions.get(id) ?? 0) + 1);
  }
  return [...newest].map(([taskId, entry]) => {
    const shown = shownTask(entry);
    return { taskId, entry, ...(shown !== undefined && { shown }), decisions: decisions.get(taskId) ?? 0 };
  });
}

export function listProjects(tasks: readonly Task[]): string[] {
  return [...new Set(tasks.flatMap(({ shown }) => shown?.project ?? []))].sort();
}

const WITHHELD = 'content not disclosed';
const STATES: readonly string[] = Object.values(WORKFLOW_STATES).flat();

/** In the order of the workflows; a state without tasks has no column. */
export function listColumns(tasks: readonly Task[]): Column[] {
  const columns = new Map<string, Task[]>();
  for (const status of [...STATES, WITHHELD]) columns.set(status, []);
  for (const task of tasks) {
    // The grammar of a task is not part of the format, so a status can be any text.
    const status = task.shown?.status ?? WITHHELD;
    const members = columns.get(status) ?? [];
    columns.set(status, members);
    members.push(task);
  }
  return [...columns]
    .filter(([, members]) => members.length > 0)
    .map(([status, members]) => ({ status, tasks: members.sort(byUrgency) }));
}

function byUrgency(left: Task, right: Task): number {
  return rank(right) - rank(left) || right.entry.index - left.entry.index;
}

function rank({ shown }: Task): number {
  return (PRIORITIES as readonly string[]).indexOf(shown?.priority ?? '');
}

function shownTask(entry: BundleEntry): ShownTask | undefined {
  const content = contentOf(entry);
  if (content === undefined) return undefined;
  const text = (name: string) => (typeof content[name] === 'string' ? content[name] : '');
  return {
    title: text('title'),
    project: text('project'),
    status: text('status'),
    priority: text('priority'),
    progress: typeof content['progress'] === 'number' ? content['progress'] : 0,
    assignee: text('assignee'),
    holder: text('holder'),
    blockedReason: text('blocked_reason'),
    labels: Array.isArray(content['labels']) ? content['labels'].map(textOf) : [],
  };
}
