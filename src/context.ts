import type { Engine, Liveness, Reader, Transaction } from './db/database.ts';

/** Everything a tool may use: tools have no globals and no clock of their own. */
export interface CallContext {
  readonly actor: string;
  /** The time of the call, ISO-8601 UTC with milliseconds. */
  readonly at: string;
  /** Sends a progress notification if the client asked for it. */
  readonly progress: (done: number, total: number, message?: string) => void;
  /** Aborts when the client cancels the call. Reads then throw; a transaction that began is completed. */
  readonly signal: AbortSignal;
  /** The reason for which a person overrides the claim on a task. */
  readonly force?: string;
  /** Set if what clients reported is not all in the ledger, although the tool needs it. */
  readonly hasWaitingEvents?: true;
  /** Why this call is not recorded; only set for a tool that answers nevertheless. */
  readonly unrecorded?: Error;
}

export interface ReadContext extends CallContext {
  /** The client has made no call yet: another process of it may get this name first. */
  readonly isUnconfirmed?: boolean;
  /** Dead agents whose tasks may be the caller's, because its client restarted several servers at once. */
  readonly predecessors?: readonly string[];
  readonly db: Reader;
  readonly liveness: Liveness;
}

export interface WriteContext extends CallContext {
  readonly db: Transaction;
  readonly liveness: Liveness;
  /** The number of the first call of the actor in this process; undefined if the name is configured. */
  readonly firstCall?: number | undefined;
}

/** What a tool has before the write lock is taken. */
export interface Preparation {
  readonly engine: Engine;
  readonly read: ReadLedger;
}

/** Reads one snapshot of the ledger, before a write transaction. */
export type ReadLedger = <Result>(work: (db: Reader) => Promise<Result>) => Promise<Result>;
