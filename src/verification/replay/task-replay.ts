import type { Task } from '../../domains/tasks/record.ts';
import { isReopening, STATUSES, type Status, workflowOf } from '../../domains/tasks/workflows.ts';
import { formatTaskId, parseId } from '../../ids.ts';
import type { Report } from '../report.ts';
import { ClaimReplay } from './claim-replay.ts';
import { NumberColumn } from './number-column.ts';
import { ReviewReplay } from './review-replay.ts';
import { RunReplay } from './run-replay.ts';
import type { TaskHistory } from './session-replay.ts';

/** Replays the tasks and reports versions that no server could have written at that position. */
export class TaskReplay implements TaskHistory {
  readonly #report: Report;
  #tasks = 0;
  readonly #parents = new NumberColumn();
  /** 0 if the content of the last version is unknown. */
  readonly #attempts = new NumberColumn();
  readonly #statuses = new NumberColumn();
  readonly #sequences = new Map<string, number>();
  /** Created tasks whose project and sequence are unknown. */
  #unknown = 0;
  readonly #claims: ClaimReplay;
  readonly reviews = new ReviewReplay();
  readonly runs: RunReplay;

  constructor(report: Report) {
    this.#report = report;
    this.runs = new RunReplay(report);
    this.#claims = new ClaimReplay(report);
  }

  exists(taskNo: number): boolean {
    return taskNo >= 1 && taskNo <= this.#tasks;
  }

  parentOf(taskNo: number): number {
    return this.#parents.get(taskNo);
  }

  attemptOf(taskNo: number): number {
    return this.#attempts.get(taskNo);
  }

  /** The entry of the latest claim; null if there is none, undefined if the content of a version is unknown. */
  tokenOf(taskNo: number): number | null | undefined {
    return this.#claims.tokenOf(taskNo);
  }

  listHolders(): ReadonlySet<string> {
    return this.#claims.listHolders();
  }

  /** The content is undefined if it does not match the log; then it is not checked. */
  created(index: number, taskNo: number, task: Task | undefined): void {
    const next = this.#tasks + 1;
    if (taskNo !== next)
      this.#report(`entry ${index}`, `creates ${formatTaskId(taskNo)} where ${formatTaskId(next)} is next`);
    if (task === undefined) this.#unknown += 1;
    else this.#checkNew(index, task);
    // No honest number exceeds the index; a forged one must not determine the memory used.
    if (taskNo > index) return;
    this.#claims.created(index, taskNo, task);
    this.#tasks = Math.max(this.#tasks, taskNo);
    this.#remember(index, taskNo, task);
  }

  /** `hasThought` returns true if the task has a thought in an attempt. */
  updated(
    index: number,
    taskNo: number,
    task: Task | undefined,
    hasThought: (taskNo: number, attempt: number) => boolean,
  ): void {
    if (!this.exists(taskNo))
      return this.#report(`entry ${index}`, `changes ${formatTaskId(taskNo)}, which does not exist at this point`);
    const attempt = this.#attempts.get(taskNo);
    if (task !== undefined && attempt !== 0) {
      const from = STATUSES[this.#statuses.get(taskNo)] as Status;
      this.#checkStep(index, task, from, attempt);
      if (task.status !== from && task.status === workflowOf(task.workflow).done && !hasThought(taskNo, attempt))
        this.#report(`task event ${index}`, `is ${task.status} without a thought record in attempt ${attempt}`);
    }
    const status = attempt === 0 ? undefined : STATUSES[this.#statuses.get(taskNo)];
    this.reviews.updated(index, taskNo, task, status && { status, holder: this.#claims.holderOf(taskNo) });
    this.runs.updated(index, taskNo, task, status);
    this.#claims.updated(index, taskNo, task, status);
    this.#remember(index, taskNo, task);
  }

  #checkNew(index: number, task: Task): void {
    const say = (problem: string) => this.#report(`task event ${index}`, problem);
    if (!workflowOf(task.workflow).entries.includes(task.status)) say(`is created as ${task.status}`);
    if (task.attempt !== 1 || task.progress !== 0)
      say('is created with an attempt other than 1 or a progress other than 0');
    if (task.created_at !== task.updated_at || task.created_by !== task.updated_by)
      say('is created at another time or by another actor than its first version');
    const sequence = (this.#sequences.get(task.project) ?? 0) + 1;
    if (task.sequence < sequence || task.sequence > sequence + this.#unknown)
      say(`has sequence ${task.sequence} in ${task.project} where ${sequence} is next`);
    this.#sequences.set(task.project, Math.max(sequence - 1, Math.min(task.sequence, index)));
  }

  #checkStep(index: number, task: Task, from: Status, attempt: number): void {
    const say = (problem: string) => this.#report(`task event ${index}`, problem);
    const moves = task.status !== from;
    if (moves && !workflowOf(task.workflow).transitions[from]?.includes(task.status))
      say(`moves from ${from} to ${task.status}, which ${task.workflow} does not allow`);
    const next = isReopening(task.workflow, from, task.status) ? attempt + 1 : attempt;
    // Earlier versions did not count a step from review to blocked as a reopening; their records stay valid.
    const isEarlier = from === 'review' && task.status === 'blocked' && task.attempt === attempt;
    if (task.attempt !== next && !isEarlier)
      say(`goes from attempt ${attempt} to ${task.attempt} in a step from ${from} to ${task.status}`);
  }

  #remember(index: number, taskNo: number, task: Task | undefined): void {
    const others = task === undefined ? [] : [task.parent_id ?? [], task.depends_on].flat();
    for (const id of others) {
      const other = parseId(id);
      if (other === taskNo || !this.exists(other))
        this.#report(
          `task event ${index}`,
          `names ${id} as a parent or dependency, which is not another task at this point`,
        );
    }
    const parent = task === undefined || task.parent_id === null ? 0 : parseId(task.parent_id);
    this.#parents.set(taskNo, this.exists(parent) ? parent : 0);
    this.#attempts.set(taskNo, Math.min(task?.attempt ?? 0, index));
    this.#statuses.set(taskNo, task === undefined ? 0 : STATUSES.indexOf(task.status as Status));
  }
}
