import type { Task } from '../../domains/tasks/record.ts';
import type { ProjectOptions } from '../../domains/tasks/review/options.ts';
import { workflowOf } from '../../domains/tasks/workflows.ts';
import { parseId } from '../../ids.ts';
import { attachmentOf, decidedKeys, type Entry, isPerson } from '../../integrity/index.ts';
import type { Report } from '../report.ts';
import { NumberColumn } from './number-column.ts';

/**
 * Replays what was observed of tasks whose project requires a run before `done`. Which command ran is in the contents,
 * and how a line is read may change; that some command exited 0 after the last edit is in the entries and cannot
 * change.
 */
export class RunReplay {
  readonly #report: Report;
  readonly #requiring = new Set<string>();
  /** One more than the index of the last edit of a file, and of the last command that exited 0. */
  readonly #edits = new NumberColumn();
  readonly #runs = new NumberColumn();
  /** The task that a session or sub-agent has given up, to which belongs what it does until it takes another one. */
  readonly #released = new Map<string, number>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** The options are undefined if they do not match the log: then no project has known ones. */
  options(options: (ProjectOptions & { readonly project: string }) | undefined): void {
    if (options === undefined) this.#requiring.clear();
    else if (options.require_observed === undefined) this.#requiring.delete(options.project);
    else this.#requiring.add(options.project);
  }

  observed(index: number, entry: Entry): void {
    const { key, task: held } = attachmentOf(entry);
    const own = numberOf(entry['task_id']);
    const taskNo = own ?? this.#released.get(key);
    if (held !== undefined) this.#released.delete(key);
    else if (own !== undefined) for (const each of decidedKeys(entry)) this.#released.set(each, own);
    // No honest number exceeds the index; a forged one must not determine the memory used.
    if (taskNo === undefined || taskNo > index) return;
    if (isEdit(entry)) this.#edits.set(taskNo, index + 1);
    if (isPassedRun(entry)) this.#runs.set(taskNo, index + 1);
  }

  /** `before` is undefined if the version before this one is unknown. A person may finish a task without a run. */
  updated(index: number, taskNo: number, task: Task | undefined, before: string | undefined): void {
    if (task === undefined || before === undefined || isPerson(task.updated_by)) return;
    const { status, project } = task;
    const isFinish = status === workflowOf(task.workflow).done && before !== status;
    if (isFinish && this.#requiring.has(project) && this.#runs.get(taskNo) <= this.#edits.get(taskNo))
      this.#report(
        `task event ${index}`,
        `finishes a task without the observed run that ${project} requires after its last edit`,
      );
  }
}

function numberOf(taskId: unknown): number | undefined {
  return typeof taskId === 'string' ? parseId(taskId) : undefined;
}

function isEdit({ action, phase, outcome }: Entry): boolean {
  return action === 'edit' && phase === 'after' && outcome !== 'failed';
}

function isPassedRun({ action, phase, exit_code: exitCode }: Entry): boolean {
  return action === 'shell' && (phase === 'after' || phase === 'failed') && exitCode === 0;
}
