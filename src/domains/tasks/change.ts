import { type CreateInput, PRIORITIES, type Task, type UpdateInput } from './schema.ts';
import {
  assertTransition,
  entryStatus,
  isClaim,
  isReopening,
  UNASSIGNED,
  type WorkflowName,
  workflowOf,
} from './workflows.ts';

/** The decisions about one task: what it becomes, and what is odd about that. No database here. */

export interface Identity {
  readonly task_id: string;
  readonly sequence: number;
  readonly project: string;
  readonly workflow: WorkflowName;
  readonly at: string;
  readonly actor: string;
}

export function newTask(input: CreateInput, { task_id, sequence, project, workflow, at, actor }: Identity): Task {
  // In the order of their names: that is the order in which a task is hashed.
  return {
    assignee: input.assignee ?? UNASSIGNED,
    attempt: 1,
    blocked_reason: null,
    created_at: at,
    created_by: actor,
    depends_on: unique(input.depends_on ?? []),
    description: input.description ?? '',
    estimate_hours: input.estimate_hours ?? null,
    labels: unique(input.labels ?? []),
    parent_id: input.parent_id ?? null,
    priority: input.priority ?? PRIORITIES[1],
    progress: 0,
    project,
    sequence,
    status: entryStatus(workflow, input.status),
    task_id,
    title: input.title,
    updated_at: at,
    updated_by: actor,
    workflow,
  };
}

/** Throws when the workflow forbids the step; whether a thought is owed is asked by the caller. */
export function changedTask(task: Task, input: UpdateInput, actor: string, at: string): Task {
  const { status = task.status } = input;
  if (input.status !== undefined) assertTransition(task, input.status);
  const moves = input.status !== undefined;
  const isClaimed = moves && isClaim(task.workflow, task.status, status);
  return {
    ...task,
    status,
    title: input.title ?? task.title,
    description: input.description ?? task.description,
    priority: input.priority ?? task.priority,
    progress: input.progress ?? task.progress,
    // Who starts a task has it, whoever it was meant for: others who try must learn whose it is now.
    assignee: input.assignee ?? (isClaimed ? actor : task.assignee),
    labels: input.labels === undefined ? task.labels : unique(input.labels),
    estimate_hours: input.estimate_hours ?? task.estimate_hours,
    parent_id: input.parent_id ?? task.parent_id,
    depends_on: input.depends_on === undefined ? task.depends_on : unique(input.depends_on),
    blocked_reason: status === 'blocked' ? (input.blocked_reason ?? task.blocked_reason) : null,
    attempt: moves && isReopening(task.workflow, task.status, status) ? task.attempt + 1 : task.attempt,
    updated_at: at,
    updated_by: actor,
  };
}

/** Allowed, and probably not what the caller meant. */
export function updateWarnings(before: Task, after: Task, input: UpdateInput, actor: string): string[] {
  const { done, cancelled } = workflowOf(after.workflow);
  const warnings: string[] = [];
  const moved = before.status !== after.status;
  if (after.progress === 100 && after.status !== done)
    warnings.push(`progress is 100 but the status is ${after.status}`);
  if (moved && after.status === done && after.progress < 100) warnings.push(`done with progress at ${after.progress}`);
  if (!moved && [done, cancelled].includes(after.status))
    warnings.push(`changed a task that is already ${after.status}`);
  if (input.blocked_reason !== undefined && after.status !== 'blocked') {
    warnings.push(`blocked_reason is dropped: the status is ${after.status}`);
  }
  if (moved && isClaim(after.workflow, before.status, after.status) && ![actor, UNASSIGNED].includes(before.assignee)) {
    warnings.push(`it was assigned to ${before.assignee}`);
  }
  return warnings;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
