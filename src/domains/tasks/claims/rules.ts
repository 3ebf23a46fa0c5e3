import { ColibriError } from '../../../errors.ts';
import type { Task } from '../record.ts';
import { type ClaimStep, type HolderState, isClaiming, isLapsed, lapseAfterMs } from './decide.ts';

/** The rules that a claim enforces: pure, from facts that were read in the transaction of the change. */

/** Only the holder of a live claim may change these. */
const GUARDED = ['status', 'progress', 'assignee', 'blocked_reason'] as const;

export type GuardedInput = Partial<Readonly<Record<(typeof GUARDED)[number], unknown>>>;

export function isGuarded(input: GuardedInput): boolean {
  return GUARDED.some((field) => input[field] !== undefined);
}

export interface ClaimEvent {
  readonly by: string;
  readonly at: string;
  readonly token: number;
}

/** What is known about the claim on a task when a change of the task is decided. */
export interface ClaimFacts {
  /** The fencing token; null if the task was never claimed. */
  readonly token: number | null;
  /** The latest claim; undefined if it does not matter. */
  readonly latest: ClaimEvent | undefined;
  /** Set if another actor took the task from the caller and it was not free since. */
  readonly loss: ClaimEvent | undefined;
  /** The state of another actor that holds the task; undefined if none does. */
  readonly holder: HolderState | undefined;
  /**
   * The holder has no live process, and the caller may be its next one: with the token it takes the task over at once.
   */
  readonly isSuccessor?: boolean;
  /** The time of the decision, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Undefined if silence alone lapses no claim. */
  readonly ttlMs: number | undefined;
}

export interface ClaimRequest extends ClaimStep {
  /** The fencing token that the caller sent. */
  readonly token: number | undefined;
  readonly isGuarded: boolean;
  /** A person may override a claim. */
  readonly isForced?: boolean;
  /** The first call of the caller's process, if that chose its name among live agents. */
  readonly firstCall?: number | undefined;
}

/** Throws if another actor has a live claim, or if the caller's claim is not the latest any more. */
export function assertClaimAllows(task: Task, request: ClaimRequest, facts: ClaimFacts): void {
  const { holder, loss, ttlMs } = facts;
  if (request.token !== undefined && request.token !== facts.token) throw claimLost(task, facts, loss ?? facts.latest);
  if (!request.isGuarded || request.isForced) return;
  const isProven = facts.isSuccessor === true && request.token !== undefined && request.status !== undefined;
  const isHeld = holder !== undefined && !isProven && !isLapsed(task, holder, ttlMs);
  // A former holder that sends the token of the latest claim knows about the loss.
  const isUnaware = loss !== undefined && request.token === undefined;
  if (isUnaware && (isHeld || !isClaiming(task, request))) throw claimLost(task, facts, loss);
  if (isHeld) throw claimHeld(task, holder, facts);
}

function claimHeld(task: Task, { silentMs, hasProcess }: HolderState, facts: ClaimFacts): ColibriError {
  const { task_id: taskId, holder } = task;
  const limit = lapseAfterMs(task, hasProcess, facts.ttlMs);
  const lastSignMs = facts.nowMs - silentMs;
  const last_sign_of_life = new Date(lastSignMs).toISOString();
  const lapses_at = limit === undefined ? null : new Date(lastSignMs + limit).toISOString();
  const since = facts.latest?.at ?? null;
  const lapse = lapses_at === null ? 'its claim does not lapse' : `without another its claim lapses at ${lapses_at}`;
  return new ColibriError(
    'ERR_CLAIM_HELD',
    `${taskId} is held by ${holder} since ${since}; last sign of life at ${last_sign_of_life}, ${lapse}`,
    // Without the token: who held the task knows it, and it proves nothing if a refusal hands it out.
    { taskId, holder, since, last_sign_of_life, lapses_at },
    { advice: facts.isSuccessor === true ? successorAdvice(task) : OTHER_TASK },
  );
}

const OTHER_TASK = 'call task_next_actions to pick another task';

function successorAdvice({ status }: Task): string {
  return `if you held it before your server was restarted, send "status":"${status}" and the "claim" that you got for it; otherwise ${OTHER_TASK}`;
}

function claimLost(task: Task, { token }: ClaimFacts, by: ClaimEvent | undefined): ColibriError {
  const { task_id: taskId, holder } = task;
  const problem =
    by === undefined
      ? `${taskId} was never claimed with this token`
      : `${by.by} claimed ${taskId} at ${by.at} (claim ${by.token}), so your claim is lost and nothing was changed`;
  return new ColibriError(
    'ERR_CLAIM_LOST',
    problem,
    { taskId, taken_by: by?.by ?? null, taken_at: by?.at ?? null, claim: token, holder },
    {
      advice:
        holder === null && token !== null
          ? `read it again with task_get; to change it nevertheless, send "claim":${token}`
          : 'stop working on it; call task_next_actions to pick another task',
    },
  );
}
