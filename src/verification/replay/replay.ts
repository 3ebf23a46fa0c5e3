import type { Task } from '../../domains/tasks/record.ts';
import type { ProjectOptions } from '../../domains/tasks/review/options.ts';
import type { Membership } from '../../domains/trail/sessions.ts';
import { parseId } from '../../ids.ts';
import { type Entry, entryDefect } from '../../integrity/index.ts';
import type { ThoughtFacts } from '../page-proof.ts';
import type { LoggedEntry } from '../reference/stored-entries.ts';
import type { Report } from '../report.ts';
import type { Finish } from './review-replay.ts';
import { SessionReplay } from './session-replay.ts';
import { TaskReplay } from './task-replay.ts';

export interface HeldContent {
  readonly task: Task;
  /** The fencing token that is stored for the task, if this is its current version. */
  readonly claimIdx?: number | null;
}

/** The options of a project as an entry sets them. */
export interface StoredOptions extends ProjectOptions {
  readonly project: string;
}

/**
 * Checks the rules between entries that docs/proof-format.md states, in log order, with a few bytes for each task and
 * session. Skips entries that break their own grammar: they are reported already.
 */
export class Replay {
  readonly #tasks: TaskReplay;
  readonly #sessions: SessionReplay;
  readonly #contents = new Map<number, HeldContent>();
  readonly #options = new Map<number, StoredOptions>();
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
    this.#tasks = new TaskReplay(report);
    this.#sessions = new SessionReplay(this.#tasks, report);
  }

  /** The actors that hold a task after the last page. */
  listHolders(): ReadonlySet<string> {
    return this.#tasks.listHolders();
  }

  /** Keeps the content of a task event for the next page. It must match its digest and its grammar. */
  hold(index: number, content: HeldContent): void {
    this.#contents.set(index, content);
  }

  /** Keeps the options that an entry sets, for the next page. */
  holdOptions(index: number, options: StoredOptions): void {
    this.#options.set(index, options);
  }

  /** The tasks that were finished since the last time in projects that require a sign-off. */
  takeFinished(): readonly Finish[] {
    return this.#tasks.reviews.takeFinished();
  }

  /** `proven` are the thoughts that are not among the entries, in log order. */
  page(entries: readonly LoggedEntry[], proven: readonly ThoughtFacts[]): void {
    let next = 0;
    for (const { index, entry } of entries) {
      for (; (proven[next]?.index ?? index) < index; next += 1) this.#sessions.thought(proven[next] as ThoughtFacts);
      if (entryDefect(entry) === undefined) this.#step(index, entry);
    }
    for (; next < proven.length; next += 1) this.#sessions.thought(proven[next] as ThoughtFacts);
    this.#contents.clear();
    this.#options.clear();
  }

  #step(index: number, entry: Entry): void {
    const number = (field: string) => parseId(entry[field] as string);
    const count = (field: string) => entry[field] as number;
    switch (entry.kind) {
      case 'task.created':
        this.#tasks.created(index, number('task_id'), this.#contents.get(index)?.task);
        this.#checkToken(index);
        return this.#memberships(index, entry);
      case 'task.updated':
        this.#tasks.updated(index, number('task_id'), this.#contents.get(index)?.task, (taskNo, attempt) =>
          this.#sessions.hasThought(taskNo, attempt),
        );
        this.#checkToken(index);
        return this.#memberships(index, entry);
      case 'project.options':
        this.#tasks.runs.options(this.#options.get(index));
        return this.#tasks.reviews.options(this.#options.get(index));
      case 'observed':
        return this.#tasks.runs.observed(index, entry);
      case 'session.started':
        return this.#sessions.start(index, {
          sessionNo: number('session_id'),
          taskNo: number('task_id'),
          isDeep: entry['scope'] === 'deep',
        });
      case 'thought':
        return this.#sessions.thought({
          index,
          thoughtNo: number('thought_id'),
          taskNo: number('task_id'),
          position: count('chain_position'),
          attempt: count('attempt'),
          sessionNo: number('session_id'),
          sessionSeq: count('session_seq'),
        });
      case 'session.finalized':
        return this.#sessions.seal(index, {
          sessionNo: number('session_id'),
          leafCount: count('leaf_count'),
          taskNo: entry['task_id'] === undefined ? undefined : number('task_id'),
        });
      default:
        return;
    }
  }

  /** The token is the only column of a task that follows from its earlier versions. */
  #checkToken(index: number): void {
    const { task, claimIdx } = this.#contents.get(index) ?? {};
    if (task === undefined || claimIdx === undefined) return;
    const token = this.#tasks.tokenOf(parseId(task.task_id));
    if (token !== undefined && token !== claimIdx)
      this.#report(task.task_id, `differs from its last event in claim_idx: its latest claim is ${token ?? 'none'}`);
  }

  #memberships(index: number, entry: Entry): void {
    const memberships = (entry['sessions'] as readonly Membership[]).map(({ session_id, session_seq }) => ({
      sessionNo: parseId(session_id),
      sessionSeq: session_seq,
    }));
    this.#sessions.taskEvent(index, parseId(entry['task_id'] as string), memberships);
  }
}
