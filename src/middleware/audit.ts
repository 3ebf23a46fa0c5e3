import type { Reader, Transaction } from '../db/database.ts';

/** The ports of stages 3 and 5. The ledger implements both; embedders may replace the sink. */

export interface ToolEnterEvent {
  readonly tool: string;
  /** The arguments as the client sent them. */
  readonly args: unknown;
  /** Milliseconds of the monotonic clock. */
  readonly timestamp: number;
  readonly correlationId: string;
  readonly actor: string;
  /** Wall-clock time, ISO-8601 UTC with milliseconds. */
  readonly at: string;
  /** The arguments as canonical JSON, truncated if long. */
  readonly argumentsText: string;
}

export interface ToolExitEvent {
  readonly tool: string;
  readonly correlationId: string;
  readonly durationMs: number;
  readonly actor: string;
  readonly at: string;
  /** `ok`, or the error code. */
  readonly outcome: string;
  /** The text that the client receives; empty for a protocol error and for a cancelled request. */
  readonly answerText: string;
  /** The tool's return value, on success. */
  readonly result?: unknown;
  /** The error that ended the call, on failure. */
  readonly error?: Error;
}

export interface AuditSink {
  /** Resolves once the event is recorded. If it throws, the tool does not run. */
  enter(event: ToolEnterEvent): Promise<void> | void;
  /** Resolves once the event is recorded. If it throws after a success, the client gets AUDIT_EXIT_FAILED. */
  exit(event: ToolExitEvent): Promise<void> | void;
}

/** The entry that ends a call. */
export interface RecordedExit {
  readonly index: number;
  readonly leaf: string;
}

/** The write transaction of one call. */
export interface RecordedTransaction {
  readonly db: Transaction;
  /** Settles when the transaction has the write lock, or has failed to get it. */
  readonly locked: Promise<unknown>;
  /** Records the exit, and tells where it is in the log. If it throws, the transaction must be rolled back. */
  exit(event: ToolExitEvent): Promise<RecordedExit | undefined>;
}

/** Runs tools that write, so that their changes and their exit are committed together. */
export interface RecordedTransactions {
  /** True if the enter of a call checks that the ledger is in place, so that its reads need not check again. */
  readonly entersInLedger: boolean;
  /**
   * Runs `work` in one durable transaction; a throw rolls it back. After a connection lost during the commit it reads
   * the result from the ledger and resolves or rejects accordingly. Rejects with `DatabaseError('unknown')` only if the
   * result cannot be read.
   */
  run<Result>(correlationId: string, work: (transaction: RecordedTransaction) => Promise<Result>): Promise<Result>;
}

const NO_OP_SINK: AuditSink = Object.freeze({
  enter: () => undefined,
  exit: () => undefined,
});

export function createNoOpAuditSink(): AuditSink {
  return NO_OP_SINK;
}

/** The name under which the calls of a client are recorded. */
export interface FoundActor {
  readonly actor: string;
  /** True before the first call, whose transaction chooses the name. */
  readonly isUnconfirmed: boolean;
  /** Dead agents whose tasks the process may hold under another name. */
  readonly predecessors?: readonly string[];
}

/** Under which name the calls of a client are recorded, and which calls of it this process has made. */
export interface CallerNames {
  /** The name, once the first call was recorded. */
  actorOf(client: string): string;
  /** The name, also before the first call: the one that it would get. */
  findActor(db: Reader, client: string): Promise<FoundActor>;
  /** The number of the last recorded call of an actor in this process. */
  lastCallOf(actor: string): number | undefined;
  /** The number of the first call of an actor in this process, unless its name is configured. */
  firstCallOf(actor: string): number | undefined;
}
