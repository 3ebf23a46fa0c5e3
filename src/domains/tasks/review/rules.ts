import { ColibriError } from '../../../errors.ts';
import { isPerson } from '../../../integrity/index.ts';
import type { Task } from '../record.ts';
import type { ReviewPolicy } from './options.ts';

/** Decides who may finish a task in review: a pure function of facts read in the transaction of the change. */

/** A sign-off: a thought record whose metadata names the version that was approved. */
export interface Approval {
  readonly by: string;
  /** The entry of the approved version of the task. */
  readonly version: number;
}

/** How the task came to review the last time. */
export interface Review {
  /** The entry that brought it there. */
  readonly index: number;
  readonly at: string;
  /** The actor of that entry and the agent that held the task before it: usually the same. */
  readonly broughtBy: readonly string[];
  /** The last change of what is approved since then, if any. */
  readonly rewrite?: Rewrite;
  /** The approvals recorded since then. */
  readonly approvals: readonly Approval[];
}

/** A change of what a task asks for. */
export interface Rewrite {
  readonly index: number;
  readonly at: string;
  readonly by: string;
  readonly fields: readonly string[];
}

/** What an approval is about. Labels, priority and the like may change afterwards. */
const APPROVED_FIELDS = ['title', 'description', 'parent_id', 'depends_on'] as const satisfies readonly (keyof Task)[];

/** The approved fields that differ between two versions of a task. */
export function listRewritten(before: Task, after: Task): string[] {
  return APPROVED_FIELDS.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}

/** Throws unless the actor may finish the task. */
export function assertApproved(task: Task, actor: string, policy: ReviewPolicy, review: Review): void {
  if (!isApproved(actor, policy, review)) throw approvalRequired(task, policy, review);
}

/** Whether the actor, or an actor that approved the task since it came to review, satisfies the policy. */
export function isApproved(actor: string, policy: ReviewPolicy, review: Omit<Review, 'at'>): boolean {
  const isEnough = (name: string) =>
    policy === 'none' || (policy === 'person' ? isPerson(name) : !review.broughtBy.includes(name));
  // An approval of a version from before the review, or before a rewrite, says nothing about what is finished now.
  const { index: since } = review.rewrite ?? review;
  const approvers = review.approvals.filter(({ version }) => version >= since).map(({ by }) => by);
  return [actor, ...approvers].some(isEnough);
}

function approvalRequired({ task_id: taskId, project }: Task, policy: ReviewPolicy, review: Review): ColibriError {
  const by = review.broughtBy.join(' and ');
  const who = policy === 'person' ? 'a person' : `an actor other than ${by}`;
  const { rewrite } = review;
  const since =
    rewrite === undefined
      ? `${by} brought it to review at ${review.at}`
      : `${rewrite.by} changed ${rewrite.fields.join(', ')} at ${rewrite.at}`;
  return new ColibriError(
    'ERR_APPROVAL_REQUIRED',
    `${taskId} needs the approval of ${who} (project ${project} has review: ${policy}), and none is recorded since ${since}`,
    { taskId, missing_fields: ['approval'], review: policy, brought_by: review.broughtBy },
    {
      advice: `ask ${policy === 'person' ? 'a person' : 'another agent to finish it, or a person'} to run colibri approve ${taskId}`,
    },
  );
}
