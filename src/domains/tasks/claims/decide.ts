import { isPerson } from '../../../integrity/index.ts';
import type { Task } from '../record.ts';
import { isClaim, isHeldStatus } from '../workflows.ts';

/** Pure decisions about claims: whether one has lapsed, and what a change of the task does to it. */

/** Once no process of its holder is alive, a claim lapses after this time, if it is shorter than the configured one. */
export const DEAD_PROCESS_TTL_MS = 10 * 60_000;

export interface HolderState {
  /** The time since the last recorded call of the holder. */
  readonly silentMs: number;
  /** False if no process of the holder is alive. */
  readonly hasProcess: boolean;
}

type Claimed = Pick<Task, 'status' | 'holder'>;

/**
 * How long the holder may be silent; undefined if this claim does not lapse. Without `ttlMs`, live agents keep theirs.
 */
export function lapseAfterMs(task: Claimed, hasProcess: boolean, ttlMs: number | undefined): number | undefined {
  const { holder, status } = task;
  // People at the command line do not lose a claim by silence.
  if (holder === null || isPerson(holder) || status === 'blocked') return undefined;
  return hasProcess ? ttlMs : shortestTtlMs(ttlMs);
}

export function isLapsed(task: Claimed, { silentMs, hasProcess }: HolderState, ttlMs: number | undefined): boolean {
  const limit = lapseAfterMs(task, hasProcess, ttlMs);
  return limit !== undefined && silentMs >= limit;
}

/** No claim lapses earlier. */
export function shortestTtlMs(ttlMs: number | undefined): number {
  return Math.min(ttlMs ?? DEAD_PROCESS_TTL_MS, DEAD_PROCESS_TTL_MS);
}

/** Processes are looked up only if the decision depends on them. */
export function dependsOnProcess(silentMs: number, ttlMs: number | undefined): boolean {
  return silentMs >= DEAD_PROCESS_TTL_MS && !(ttlMs !== undefined && silentMs >= ttlMs);
}

export interface ClaimStep {
  readonly actor: string;
  /** The requested status; undefined if the change sets none. */
  readonly status: string | undefined;
}

export interface ClaimResult {
  readonly holder: string | null;
  readonly taken_from: string | null;
  /** True if this change is a new claim: the index of its event is the new fencing token. */
  readonly isNew: boolean;
}

type Claimable = Pick<Task, 'workflow' | 'status' | 'holder' | 'taken_from'>;

/** Whether the step claims the task: by starting it, or by repeating the status of a task that others started. */
export function isClaiming(task: Claimable, { actor, status }: ClaimStep): boolean {
  if (status === undefined) return false;
  return status === task.status ? repeatsToClaim(task, actor) : isClaim(task.workflow, task.status, status);
}

/** True if the actor repeats the status to claim the task. This is not a transition of the workflow. */
export function repeatsToClaim({ status, holder }: Claimable, actor: string): boolean {
  return holder !== actor && isHeldStatus(status) && status !== 'blocked';
}

/** The claim after a step that is allowed. A step of another actor than the holder takes the task over. */
export function claimAfter(task: Claimable, step: ClaimStep): ClaimResult {
  const { actor, status } = step;
  const takesOver = status !== undefined && task.holder !== null && task.holder !== actor;
  const claims = isClaiming(task, step);
  const holder = claims || takesOver ? actor : task.holder;
  return {
    holder: isHeldStatus(status ?? task.status) ? holder : null,
    taken_from: takesOver ? task.holder : claims && task.holder === null ? null : task.taken_from,
    isNew: claims || takesOver,
  };
}
