import type { Task } from '../../domains/tasks/record.ts';
import type { Membership } from '../../domains/trail/sessions.ts';
import { parseId } from '../../ids.ts';
import { type Entry, entryDefect } from '../../integrity/index.ts';
import type { LoggedEntry, Report } from '../verify-log.ts';
import { SessionReplay, type ThoughtFacts } from './session-replay.ts';
import { TaskReplay } from './task-replay.ts';

/**
 * The rules between entries, as docs/proof-format.md states them: walks the log in its order and keeps a few bytes for
 * each task and session. Entries that break their own grammar were reported before and are passed over.
 */
export class Replay {
  readonly #tasks: TaskReplay;
  readonly #sessions: SessionReplay;
  readonly #contents = new Map<number, Task>();
  #foreseen: readonly ThoughtFacts[] = [];

  constructor(report: Report) {
    this.#tasks = new TaskReplay(report);
    this.#sessions = new SessionReplay(this.#tasks, report);
  }

  /** The content of a task event of the next page, which matches its digest and its grammar. */
  hold(index: number, task: Task): void {
    this.#contents.set(index, task);
  }

  /** Thoughts of the next page that are not among its entries, because their texts were compared as a whole. */
  foresee(thoughts: readonly ThoughtFacts[]): void {
    this.#foreseen = thoughts.toSorted((left, right) => left.index - right.index);
  }

  page(entries: readonly LoggedEntry[]): void {
    let next = 0;
    for (const { index, entry } of entries) {
      for (; (this.#foreseen[next]?.index ?? index) < index; next += 1)
        this.#sessions.thought(this.#foreseen[next] as ThoughtFacts);
      if (entryDefect(entry) === undefined) this.#step(index, entry);
    }
    for (const thought of this.#foreseen.slice(next)) this.#sessions.thought(thought);
    this.#foreseen = [];
    this.#contents.clear();
  }

  #step(index: number, entry: Entry): void {
    const number = (field: string) => parseId(entry[field] as string);
    const count = (field: string) => entry[field] as number;
    switch (entry.kind) {
      case 'task.created':
        this.#tasks.created(index, number('task_id'), this.#contents.get(index));
        return this.#places(index, entry);
      case 'task.updated':
        this.#tasks.updated(index, number('task_id'), this.#contents.get(index), (taskNo, attempt) =>
          this.#sessions.hasThought(taskNo, attempt),
        );
        return this.#places(index, entry);
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

  #places(index: number, entry: Entry): void {
    const places = (entry['sessions'] as readonly Membership[]).map(({ session_id, session_seq }) => ({
      sessionNo: parseId(session_id),
      sessionSeq: session_seq,
    }));
    this.#sessions.taskEvent(index, parseId(entry['task_id'] as string), places);
  }
}
