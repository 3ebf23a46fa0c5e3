import { ColibriError } from '../../errors.ts';
import type { WORKFLOW_STATES } from '../../integrity/index.ts';

/** The assignee of a task without one. */
export const UNASSIGNED = 'unassigned';

/** The states of a workflow and the steps between them. */
export interface Workflow {
  readonly entries: readonly [string, ...string[]];
  readonly transitions: Readonly<Record<string, readonly string[]>>;
  /** The state before `done`, which ends the claim. */
  readonly review: string;
  /** The state that requires a thought record. */
  readonly done: string;
  readonly cancelled: string;
  /** States in which a task can be picked up; moving from one of them to a `started` state is a claim. */
  readonly ready: readonly string[];
  readonly started: readonly string[];
  /** States in which a claim lasts; it ends in any other. */
  readonly held: readonly string[];
  /** Steps that send a task back and start another attempt. */
  readonly reopenings: readonly (readonly [string, string])[];
}

export const WORKFLOWS = {
  board: {
    entries: ['backlog', 'todo'],
    transitions: {
      backlog: ['todo', 'cancelled'],
      todo: ['in_progress', 'blocked', 'cancelled'],
      in_progress: ['review', 'blocked', 'cancelled'],
      blocked: ['todo', 'in_progress', 'cancelled'],
      review: ['done', 'backlog', 'blocked', 'cancelled'],
      done: [],
      cancelled: [],
    },
    review: 'review',
    done: 'done',
    cancelled: 'cancelled',
    ready: ['todo'],
    started: ['in_progress'],
    held: ['in_progress', 'blocked'],
    reopenings: [
      ['review', 'backlog'],
      ['review', 'blocked'],
    ],
  },
  pipeline: {
    entries: ['INIT'],
    transitions: {
      INIT: ['GATHER', 'CANCELLED'],
      GATHER: ['ANALYZE', 'CANCELLED'],
      ANALYZE: ['PLAN', 'CANCELLED'],
      PLAN: ['APPLY', 'CANCELLED'],
      APPLY: ['VERIFY', 'CANCELLED'],
      VERIFY: ['DONE', 'GATHER', 'CANCELLED'],
      DONE: [],
      CANCELLED: [],
    },
    review: 'VERIFY',
    done: 'DONE',
    cancelled: 'CANCELLED',
    ready: ['INIT', 'GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY'],
    started: ['GATHER'],
    held: ['GATHER', 'ANALYZE', 'PLAN', 'APPLY'],
    reopenings: [['VERIFY', 'GATHER']],
  },
} as const satisfies WorkflowTable;

type States = typeof WORKFLOW_STATES;
/** Exactly the states that the grammar of a recorded task allows. */
type WorkflowTable = {
  readonly [Name in keyof States]: Workflow & {
    readonly transitions: Readonly<Record<States[Name][number], readonly States[Name][number][]>>;
  };
};

export type WorkflowName = keyof typeof WORKFLOWS;
export type Status = { [Name in WorkflowName]: keyof (typeof WORKFLOWS)[Name]['transitions'] }[WorkflowName];

export const STATUSES = Object.values(WORKFLOWS).flatMap(({ transitions }) => Object.keys(transitions)) as Status[];

export function workflowOf(name: WorkflowName): Workflow {
  return WORKFLOWS[name];
}

/** No two workflows share a state name, so the state alone decides. */
export function isOpen(status: string): boolean {
  return Object.values<Workflow>(WORKFLOWS).some(({ transitions }) => (transitions[status]?.length ?? 0) > 0);
}

export function isCancelled(status: string): boolean {
  return Object.values<Workflow>(WORKFLOWS).some(({ cancelled }) => cancelled === status);
}

export function isHeldStatus(status: string): boolean {
  return Object.values<Workflow>(WORKFLOWS).some(({ held }) => held.includes(status));
}

/** Whether work on a task has not begun. */
export function isFreeStatus(status: string): boolean {
  return Object.values<Workflow>(WORKFLOWS).some(({ entries }) => entries.includes(status));
}

export function isReady(workflow: WorkflowName, status: string): boolean {
  return workflowOf(workflow).ready.includes(status);
}

export function isClaim(workflow: WorkflowName, from: string, to: string): boolean {
  return workflowOf(workflow).started.includes(to) && !isReopening(workflow, from, to);
}

export function isReopening(workflow: WorkflowName, from: string, to: string): boolean {
  return workflowOf(workflow).reopenings.some(([source, target]) => source === from && target === to);
}

/** The state of a new task: the requested one, if tasks can start there. */
export function entryStatus(workflow: WorkflowName, wanted: string | undefined): string {
  const { entries } = workflowOf(workflow);
  if (wanted === undefined) return entries[0];
  if (entries.includes(wanted)) return wanted;
  throw new ColibriError(
    'ERR_INVALID_TRANSITION',
    `a new ${workflow} task can start as ${entries.join(' or ')}, not as ${wanted}`,
    {
      from: null,
      to: wanted,
      allowed: entries,
    },
  );
}

export interface TransitionSubject {
  readonly task_id: string;
  readonly workflow: WorkflowName;
  readonly status: string;
  readonly assignee: string;
}

export function assertTransition(task: TransitionSubject, to: string): void {
  const allowed = workflowOf(task.workflow).transitions[task.status] ?? [];
  if (allowed.includes(to)) return;
  const { task_id: taskId, status: from, assignee } = task;
  const rest = allowed.length === 0 ? 'which is final' : `from there it can go to ${allowed.join(', ')}`;
  const holder = assignee === UNASSIGNED ? UNASSIGNED : `assigned to ${assignee}`;
  const message = `${taskId} is ${from}${allowed.length === 0 ? ', ' : '; '}${rest}; ${holder}`;
  const options = allowed.length === 0 ? { advice: 'call task_create to add a task for what is left' } : {};
  throw new ColibriError('ERR_INVALID_TRANSITION', message, { taskId, from, to, allowed, assignee }, options);
}
