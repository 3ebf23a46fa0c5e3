import type { Liveness, Reader } from '../../../db/database.ts';
import { hasLiveProcess, readLastSign } from '../../../ledger/presence/signs.ts';
import type { HolderState } from './decide.ts';

/** What a decision about claims needs beside the ledger. */
export interface ClaimContext {
  readonly liveness: Liveness;
  /** The time of the call. */
  readonly at: string;
  /** Undefined if silence alone lapses no claim. */
  readonly ttlMs: number | undefined;
}

/** What decides whether the claims of this actor are live. */
export async function readHolder(
  db: Reader,
  holder: string,
  { liveness, at, ttlMs }: ClaimContext,
): Promise<HolderState & { readonly nowMs: number }> {
  const { silentMs, nowMs, calls } = await readLastSign(db, liveness, holder, at);
  // The TTL is checked first: a dead process only shortens the time that is left of it.
  const matters = ttlMs === undefined || silentMs < ttlMs;
  const hasProcess = !matters || (await hasLiveProcess(db, liveness, calls));
  return { silentMs, hasProcess, nowMs };
}
