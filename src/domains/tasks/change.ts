import { claimAfter, repeatsToClaim } from './claims/decide.ts';
import { type Task, taskFields } from './record.ts';
import type { CreateInput, UpdateInput } from './schema.ts';
import {
  assertTransition,
  entryStatus,
  isClaim,
  isReopening,
  UNASSIGNED,
  type WorkflowName,
  workflowOf,
} from './workflows.ts';

/** Pure decisions about one task: its next version, and warnings about it. */

export interface Identity {
  readonly task_id: string;
  readonly sequence: number;
  readonly project: string;
  readonly workflow: WorkflowName;
  readonly at: string;
  readonly actor: string;
}

export function newTask(input: CreateInput, { task_id, sequence, project, workflow, at, actor }: Identity): Task {
  return taskFields.complete(taskFields.given('create', input), {
    task_id,
    sequence,
    project,
    workflow,
    status: entryStatus(workflow, input.status),
    created_at: at,
    created_by: actor,
    updated_at: at,
    updated_by: actor,
  });
}

/** Throws if the workflow forbids the step; the caller checks whether a thought is missing. */
export function changedTask(task: Task, input: UpdateInput, actor: string, at: string): Task {
  const { status = task.status } = input;
  const moves = input.status !== undefined;
  const step = { actor, status: input.status };
  const isRepeated = status === task.status && repeatsToClaim(task, actor);
  if (moves && !isRepeated) assertTransition(task, status);
  const { holder, taken_from, isNew } = claimAfter(task, step);
  const given = taskFields.given('update', input);
  // The actor that starts a task becomes its assignee, even if another was assigned: losers of a race must see the
  // winner.
  const claimant = isNew && holder !== null ? actor : undefined;
  return {
    ...task,
    ...given,
    holder,
    taken_from,
    assignee: input.assignee ?? claimant ?? given.assignee ?? task.assignee,
    blocked_reason: status === 'blocked' ? (input.blocked_reason ?? task.blocked_reason) : null,
    attempt: moves && isReopening(task.workflow, task.status, status) ? task.attempt + 1 : task.attempt,
    updated_at: at,
    updated_by: actor,
  };
}

/** Changes that are allowed but probably unintended. */
export function updateWarnings(before: Task, after: Task, input: UpdateInput, actor: string): string[] {
  const { done, cancelled } = workflowOf(after.workflow);
  const warnings: string[] = [];
  const moved = before.status !== after.status;
  if (after.progress === 100 && after.status !== done)
    warnings.push(`progress is 100 but the status is ${after.status}`);
  if (moved && after.status === done && after.progress < 100)
    warnings.push(`the task is ${done} but progress is ${after.progress}`);
  if (!moved && [done, cancelled].includes(after.status)) warnings.push(`the task was already ${after.status}`);
  if (typeof input.blocked_reason === 'string' && after.status !== 'blocked')
    warnings.push(`blocked_reason is ignored: the status is ${after.status}`);
  if (input.blocked_reason === null && after.status === 'blocked')
    warnings.push('blocked_reason is kept while the status is blocked: move the task to clear it');
  if (moved && isClaim(after.workflow, before.status, after.status) && ![actor, UNASSIGNED].includes(before.assignee)) {
    warnings.push(`the task was assigned to ${before.assignee}`);
  }
  return warnings;
}
