import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import type { ThoughtFacts } from '../page-proof.ts';
import type { Report } from '../report.ts';
import { NumberColumn } from './number-column.ts';

/** The state of the tasks at the replayed position of the log. */
export interface TaskHistory {
  exists(taskNo: number): boolean;
  /** 0 if the task has no parent or its content is unknown. */
  parentOf(taskNo: number): number;
  /** 0 if the content of the task is unknown. */
  attemptOf(taskNo: number): number;
}

export interface SessionMembership {
  readonly sessionNo: number;
  readonly sessionSeq: number;
}

export interface SessionStart {
  readonly sessionNo: number;
  readonly taskNo: number;
  readonly isDeep: boolean;
}

export interface Seal {
  readonly sessionNo: number;
  readonly leafCount: number;
  /** Set if only the records of this task were sealed. */
  readonly taskNo: number | undefined;
}

const DEEP = 1;
const SEALED = 2;

/** Replays sessions and thoughts and reports what no server could have written at that position. */
export class SessionReplay {
  readonly #tasks: TaskHistory;
  readonly #report: Report;
  #sessions = 0;
  #thoughts = 0;
  readonly #taskOf = new NumberColumn();
  readonly #flags = new NumberColumn();
  readonly #records = new NumberColumn();
  readonly #liveOf = new NumberColumn();
  readonly #chainOf = new NumberColumn();
  readonly #lastAttemptOf = new NumberColumn();

  constructor(tasks: TaskHistory, report: Report) {
    this.#tasks = tasks;
    this.#report = report;
  }

  start(index: number, { sessionNo, taskNo, isDeep }: SessionStart): void {
    const say = (problem: string) => this.#report(`entry ${index}`, problem);
    const next = this.#sessions + 1;
    if (sessionNo !== next) say(`starts ${formatSessionId(sessionNo)} where ${formatSessionId(next)} is next`);
    if (!this.#tasks.exists(taskNo))
      say(`starts a session of ${formatTaskId(taskNo)}, which does not exist at this point`);
    const live = this.#liveOf.get(taskNo);
    if (live !== 0) say(`starts a session of ${formatTaskId(taskNo)} while ${formatSessionId(live)} is live`);
    // No honest number exceeds the index; a forged one must not determine the memory used.
    if (sessionNo > index || taskNo > index) return;
    this.#sessions = Math.max(this.#sessions, sessionNo);
    this.#taskOf.set(sessionNo, taskNo);
    this.#flags.set(sessionNo, isDeep ? DEEP : 0);
    this.#records.set(sessionNo, 0);
    this.#liveOf.set(taskNo, sessionNo);
  }

  thought(facts: ThoughtFacts): void {
    const { index, thoughtNo, taskNo, position, attempt, sessionNo, sessionSeq } = facts;
    const place = `entry ${index}`;
    const next = this.#thoughts + 1;
    if (thoughtNo !== next)
      this.#report(place, `records ${formatThoughtId(thoughtNo)} where ${formatThoughtId(next)} is next`);
    if (thoughtNo <= index) this.#thoughts = Math.max(this.#thoughts, thoughtNo);
    if (!this.#tasks.exists(taskNo))
      return this.#report(place, `is about ${formatTaskId(taskNo)}, which does not exist at this point`);
    const link = this.#chainOf.get(taskNo) + 1;
    if (position !== link) this.#report(place, `has chain position ${position} where ${link} is next`);
    this.#chainOf.set(taskNo, Math.min(position, index));
    const current = this.#tasks.attemptOf(taskNo);
    if (current !== 0 && attempt !== current)
      this.#report(place, `counts for attempt ${attempt} while ${formatTaskId(taskNo)} is at attempt ${current}`);
    this.#lastAttemptOf.set(taskNo, Math.min(attempt, index));
    this.#join(index, taskNo, { sessionNo, sessionSeq });
  }

  /** A task event is a record of each live session that covers the task, and of no other. */
  taskEvent(index: number, taskNo: number, memberships: readonly SessionMembership[]): void {
    for (const membership of memberships) this.#join(index, taskNo, membership);
    for (const sessionNo of this.#covering(taskNo))
      if (!memberships.some((membership) => membership.sessionNo === sessionNo))
        this.#report(`entry ${index}`, `is not in ${formatSessionId(sessionNo)}, which covers ${formatTaskId(taskNo)}`);
  }

  seal(index: number, { sessionNo, leafCount, taskNo }: Seal): void {
    const problem = this.#notLive(sessionNo);
    if (problem !== undefined) return this.#report(`entry ${index}`, `seals ${formatSessionId(sessionNo)}, ${problem}`);
    const records = this.#records.get(sessionNo);
    const isPossible = taskNo === undefined ? leafCount === records : leafCount >= 1 && leafCount <= records;
    if (!isPossible) this.#report(`entry ${index}`, `seals ${leafCount} records of ${records}`);
    if (taskNo !== undefined && !this.#tasks.exists(taskNo))
      this.#report(`entry ${index}`, `seals the records of ${formatTaskId(taskNo)}, which does not exist`);
    this.#flags.set(sessionNo, this.#flags.get(sessionNo) | SEALED);
    this.#liveOf.set(this.#taskOf.get(sessionNo), 0);
  }

  /** True if the newest thought about a task belongs to this attempt. */
  hasThought(taskNo: number, attempt: number): boolean {
    return this.#chainOf.get(taskNo) > 0 && this.#lastAttemptOf.get(taskNo) === attempt;
  }

  #join(index: number, taskNo: number, { sessionNo, sessionSeq }: SessionMembership): void {
    const place = `entry ${index}`;
    const session = () => formatSessionId(sessionNo);
    const problem = this.#notLive(sessionNo);
    if (problem !== undefined) return this.#report(place, `is in ${session()}, ${problem}`);
    if (!this.#covers(sessionNo, taskNo))
      this.#report(place, `is in ${session()}, which does not cover ${formatTaskId(taskNo)}`);
    const next = this.#records.get(sessionNo) + 1;
    if (sessionSeq !== next) this.#report(place, `is record ${sessionSeq} of ${session()} where ${next} is next`);
    this.#records.set(sessionNo, Math.min(sessionSeq, index));
  }

  #notLive(sessionNo: number): string | undefined {
    if (sessionNo > this.#sessions || this.#taskOf.get(sessionNo) === 0) return 'which has not started at this point';
    return (this.#flags.get(sessionNo) & SEALED) === 0 ? undefined : 'which is sealed at this point';
  }

  #covers(sessionNo: number, taskNo: number): boolean {
    const own = this.#taskOf.get(sessionNo);
    if (own === taskNo) return true;
    if ((this.#flags.get(sessionNo) & DEEP) === 0) return false;
    for (const ancestor of this.#ancestors(taskNo)) if (ancestor === own) return true;
    return false;
  }

  *#covering(taskNo: number): Generator<number> {
    const own = this.#liveOf.get(taskNo);
    if (own !== 0) yield own;
    for (const ancestor of this.#ancestors(taskNo)) {
      const inherited = this.#liveOf.get(ancestor);
      if (inherited !== 0 && (this.#flags.get(inherited) & DEEP) !== 0) yield inherited;
    }
  }

  /** Stops at a task that was visited already: forged parents may form a cycle. */
  *#ancestors(taskNo: number): Generator<number> {
    const visited = new Set([taskNo]);
    for (let next = this.#tasks.parentOf(taskNo); next !== 0 && !visited.has(next); next = this.#tasks.parentOf(next)) {
      visited.add(next);
      yield next;
    }
  }
}
