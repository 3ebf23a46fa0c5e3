import type { Reader } from '../../../db/database.ts';
import type { Task } from '../record.ts';
import { type HolderState, isLapsed } from './decide.ts';
import { type ClaimContext, readHolder } from './holder.ts';

/** A claim as people see it. */
export interface ClaimView {
  readonly holder: string;
  /** Since the last recorded call of the holder. */
  readonly silent_for_s: number;
  /** True if another agent may take the task over. */
  readonly lapsed: boolean;
}

/** Returns a function that reads the claim of a task, if it has one; the signs of life of each holder once. */
export function createClaimReader(
  db: Reader,
  context: ClaimContext,
): (task: Pick<Task, 'status' | 'holder'>) => Promise<ClaimView | undefined> {
  const states = new Map<string, HolderState>();
  return async (task) => {
    const { holder } = task;
    if (holder === null) return undefined;
    const state = states.get(holder) ?? (await readHolder(db, holder, context));
    states.set(holder, state);
    const silent_for_s = Math.floor(state.silentMs / 1000);
    return { holder, silent_for_s, lapsed: isLapsed(task, state, context.ttlMs) };
  };
}
