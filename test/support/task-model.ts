/** The task pipeline as the specification tells it, with nothing in mind but being obviously right. */

export interface ModelTask {
  readonly task_id: string;
  readonly project: string;
  readonly workflow: Workflow;
  readonly sequence: number;
  title: string;
  status: string;
  priority: string;
  progress: number;
  assignee: string;
  labels: readonly string[];
  parent_id: string | undefined;
  depends_on: readonly string[];
  blocked_reason: string | undefined;
  attempt: number;
  isExplained: boolean;
  hasSession: boolean;
  updated_at: string;
}

export type Workflow = 'board' | 'pipeline';

export interface Fields {
  readonly title?: string | undefined;
  readonly status?: string | undefined;
  readonly priority?: string | undefined;
  readonly progress?: number | undefined;
  readonly assignee?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly parent_id?: string | undefined;
  readonly depends_on?: readonly string[] | undefined;
  readonly blocked_reason?: string | undefined;
}

export interface NewFields extends Fields {
  readonly title: string;
  readonly project?: string | undefined;
  readonly workflow?: Workflow | undefined;
}

export const PRIORITIES = ['low', 'normal', 'high', 'critical'];

const STEPS: Readonly<Record<string, string>> = {
  backlog: 'todo cancelled',
  todo: 'in_progress blocked cancelled',
  in_progress: 'review blocked cancelled',
  blocked: 'todo in_progress cancelled',
  review: 'done backlog blocked cancelled',
  INIT: 'GATHER CANCELLED',
  GATHER: 'ANALYZE CANCELLED',
  ANALYZE: 'PLAN CANCELLED',
  PLAN: 'APPLY CANCELLED',
  APPLY: 'VERIFY CANCELLED',
  VERIFY: 'DONE GATHER CANCELLED',
};
const ENTRIES = { board: ['backlog', 'todo'], pipeline: ['INIT'] } as const;

export class TaskModel {
  readonly tasks: ModelTask[] = [];
  readonly #actor: string;
  /** How many task events the ledger must have. */
  changes = 0;

  constructor(actor: string) {
    this.#actor = actor;
  }

  find(task_id: string): ModelTask | undefined {
    return this.tasks.find((task) => task.task_id === task_id);
  }

  /** Which rules a creation would break; it must be refused for one of them, and accepted if there is none. */
  faultsOfCreate({ workflow = 'board', status, parent_id, depends_on = [] }: NewFields): string[] {
    const faults: string[] = [];
    if (status !== undefined && !(ENTRIES[workflow] as readonly string[]).includes(status)) {
      faults.push('ERR_INVALID_TRANSITION');
    }
    if (this.#anyMissing(parent_id, depends_on)) faults.push('ERR_NOT_FOUND');
    else if (this.#closesCircle('the new task', parent_id, depends_on)) faults.push('ERR_CIRCULAR_DEPENDENCY');
    return faults;
  }

  create(input: NewFields, updated_at: string): ModelTask {
    const { workflow = 'board', project = 'default' } = input;
    const task: ModelTask = {
      task_id: `T-${String(this.tasks.length + 1).padStart(4, '0')}`,
      project,
      workflow,
      sequence: this.tasks.filter((other) => other.project === project).length + 1,
      title: input.title,
      status: input.status ?? ENTRIES[workflow][0],
      priority: input.priority ?? 'normal',
      progress: 0,
      assignee: input.assignee ?? 'unassigned',
      labels: [...new Set(input.labels)],
      parent_id: input.parent_id,
      depends_on: [...new Set(input.depends_on)],
      blocked_reason: undefined,
      attempt: 1,
      isExplained: false,
      hasSession: false,
      updated_at,
    };
    this.tasks.push(task);
    this.changes += 1;
    return task;
  }

  faultsOfUpdate(task_id: string, { status, parent_id, depends_on }: Fields): string[] {
    const task = this.find(task_id);
    if (task === undefined) return ['ERR_NOT_FOUND'];
    const faults: string[] = [];
    const allowed = (STEPS[task.status] ?? '').split(' ');
    if (status !== undefined && !allowed.includes(status)) faults.push('ERR_INVALID_TRANSITION');
    else if (status?.toLowerCase() === 'done' && !task.isExplained) faults.push('ERR_WRITEBACK_REQUIRED');
    if (this.#anyMissing(parent_id, depends_on ?? [])) faults.push('ERR_NOT_FOUND');
    else if (
      (parent_id !== undefined || depends_on !== undefined) &&
      this.#closesCircle(task_id, parent_id ?? task.parent_id, depends_on ?? task.depends_on)
    )
      faults.push('ERR_CIRCULAR_DEPENDENCY');
    return faults;
  }

  update(task_id: string, input: Fields, updated_at: string): void {
    const task = this.find(task_id);
    if (task === undefined) throw new Error(`the model has no ${task_id}`);
    const { status = task.status } = input;
    const move = `${task.status} ${status}`;
    const takes = ['todo in_progress', 'blocked in_progress', 'INIT GATHER'].includes(move);
    const reopens = ['review backlog', 'VERIFY GATHER'].includes(move);
    Object.assign(task, {
      ...Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)),
      assignee: input.assignee ?? (takes ? this.#actor : task.assignee),
      labels: [...new Set(input.labels ?? task.labels)],
      depends_on: [...new Set(input.depends_on ?? task.depends_on)],
      blocked_reason: status === 'blocked' ? (input.blocked_reason ?? task.blocked_reason) : undefined,
      attempt: task.attempt + (reopens ? 1 : 0),
      isExplained: task.isExplained && !reopens,
      updated_at,
    });
    this.changes += 1;
  }

  unmet(task: ModelTask): string[] {
    const waits = this.tasks.filter(
      (other) => other.parent_id === task.task_id || task.depends_on.includes(other.task_id),
    );
    return waits.filter(isOpen).map(({ task_id }) => task_id);
  }

  nextActions(project: string): string[] {
    return this.tasks
      .filter((task) => task.project === project && isReady(task) && this.unmet(task).length === 0)
      .toSorted((one, other) => PRIORITIES.indexOf(other.priority) - PRIORITIES.indexOf(one.priority))
      .map(({ task_id }) => task_id);
  }

  held(project: string): string[] {
    return this.tasks
      .filter((task) => task.project === project)
      .filter((task) => task.status === 'blocked' || (isReady(task) && this.unmet(task).length > 0))
      .map(({ task_id }) => task_id);
  }

  #anyMissing(parent_id: string | undefined, depends_on: readonly string[]): boolean {
    return [parent_id ?? [], depends_on].flat().some((id) => this.find(id) === undefined);
  }

  /** Follows every way from the task; coming back to it is a circle. */
  #closesCircle(task_id: string, parent_id: string | undefined, depends_on: readonly string[]): boolean {
    const awaitedBy = (id: string) => {
      const children = this.tasks.filter((task) => task.task_id !== task_id && task.parent_id === id);
      const own = id === task_id ? depends_on : (this.find(id)?.depends_on ?? []);
      return [...children.map((child) => child.task_id), ...own, ...(parent_id === id ? [task_id] : [])];
    };
    const seen = new Set<string>();
    const ahead = awaitedBy(task_id);
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      if (next === task_id) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      ahead.push(...awaitedBy(next));
    }
    return false;
  }
}

export function isOpen({ status }: ModelTask): boolean {
  return !['done', 'cancelled'].includes(status.toLowerCase());
}

function isReady(task: ModelTask): boolean {
  return task.workflow === 'board' ? task.status === 'todo' : isOpen(task);
}
