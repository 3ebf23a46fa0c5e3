import type { Task } from '../../domains/tasks/record.ts';
import type { ProjectOptions, ReviewPolicy } from '../../domains/tasks/review/options.ts';
import type { Review } from '../../domains/tasks/review/rules.ts';
import { workflowOf } from '../../domains/tasks/workflows.ts';

/** A task that was finished while its project required a sign-off. */
export interface Finish {
  readonly index: number;
  readonly taskNo: number;
  readonly project: string;
  readonly actor: string;
  readonly policy: ReviewPolicy;
  readonly review: Omit<Review, 'at' | 'approvals'>;
}

/** Replays the options of projects and how tasks came to review, with memory for the tasks that are in review. */
export class ReviewReplay {
  readonly #policies = new Map<string, ReviewPolicy>();
  readonly #reviews = new Map<number, Finish['review']>();
  #finished: Finish[] = [];

  /** The options are undefined if they do not match the log: then no project has known ones. */
  options(options: (ProjectOptions & { readonly project: string }) | undefined): void {
    if (options === undefined) this.#policies.clear();
    else this.#policies.set(options.project, options.review ?? 'none');
  }

  /** `before` is undefined if the version before this one is unknown. */
  updated(
    index: number,
    taskNo: number,
    task: Task | undefined,
    before: Pick<Task, 'status' | 'holder'> | undefined,
  ): void {
    const known = this.#reviews.get(taskNo);
    this.#reviews.delete(taskNo);
    if (task === undefined || before === undefined) return;
    const { status, project, updated_by: actor } = task;
    const workflow = workflowOf(task.workflow);
    if (status === workflow.review) {
      const brought = { index, broughtBy: [actor, before.holder ?? actor] };
      const review = before.status === status ? known : brought;
      if (review !== undefined) this.#reviews.set(taskNo, review);
    }
    const policy = this.#policies.get(project) ?? 'none';
    if (status === workflow.done && before.status !== status && known !== undefined && policy !== 'none')
      this.#finished.push({ index, taskNo, project, actor, policy, review: known });
  }

  /** What was finished since the last time. */
  takeFinished(): readonly Finish[] {
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }
}
