import type { Reader, Transaction } from './db/database.ts';

/** What a tool may touch, and nothing else: no globals, no clock of its own. */
export interface CallContext {
  readonly actor: string;
  /** The time of the call, ISO-8601 UTC with milliseconds. */
  readonly at: string;
  /** Reports progress to a client that asked for it; does nothing otherwise. */
  readonly progress: (done: number, total: number, message?: string) => void;
  /** Aborts when the client cancels the call. A read ends by itself then; a change that began is completed. */
  readonly signal: AbortSignal;
}

export interface ReadContext extends CallContext {
  readonly db: Reader;
}

export interface WriteContext extends CallContext {
  readonly db: Transaction;
}

/** One snapshot of the ledger, for work that comes before a write transaction. */
export type ReadLedger = <Result>(work: (db: Reader) => Promise<Result>) => Promise<Result>;
