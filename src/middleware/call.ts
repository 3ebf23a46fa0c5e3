import type { CallContext } from '../context.ts';
import type { Database, Reader } from '../db/database.ts';
import type { FifoLock } from '../fifo-lock.ts';
import type { Log } from '../log.ts';
import type { Mode } from '../modes.ts';
import type { Tool } from '../tool.ts';
import type { AuditSink, FoundActor, RecordedTransaction, RecordedTransactions, ToolEnterEvent } from './audit.ts';

/** What the stages need of a server, which may still boot while calls arrive. */
export interface ServerState {
  /** The mode that decides what is admitted; a failed boot reduces it. */
  readonly mode: Mode;
  readonly configuredMode: Mode;
  /** Why the server could not boot. */
  readonly failure: Error | undefined;
  readonly isRetrying: boolean;
  /** Why the server writes nothing although it should. */
  readonly rollback: Error | undefined;
  readonly database: Database | undefined;
  readonly transactions: RecordedTransactions | undefined;
  readonly audit: AuditSink;
  /** ISO-8601 UTC with milliseconds. */
  readonly now: () => string;
  /** The name under which the calls of a client are recorded. */
  actorOf(client: string): string;
  /** The same, also before the client's first call: the name that it would get. */
  findActor(db: Reader, client: string): Promise<FoundActor>;
  /** The number of the first call of an actor in this process, unless its name is configured. */
  firstCallOf(actor: string): number | undefined;
  /** The newest signed checkpoint of the log. */
  readonly checkpoint: string | undefined;
  /** Tells that a call of this tool was committed as the last entry of a log of this size. */
  committed(tool: string, size: number): void;
  /** Tells that a call could not be recorded, or that its change was rolled back, because of this error. */
  notCommitted(error: Error): void;
  /** Resolves when the server has booted; at once for an early call that can still be buffered. */
  passGate(isEarly: boolean): Promise<void>;
  /**
   * Resolves when what clients reported so far is in the ledger, as far as it does not take long; if `isWhole`, longer.
   * False if something is not. Never rejects.
   */
  settle(isWhole: boolean): Promise<boolean>;
}

/** What the stages of one server share. */
export interface Chain<State extends ServerState = ServerState> {
  readonly lock: FifoLock;
  readonly runtime: State;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** One `tools/call` request. */
export interface Call {
  readonly name: string;
  /** Undefined for an unknown tool; such a call is recorded too. */
  readonly tool: Tool | undefined;
  readonly rawInput: unknown;
  /** Why the request is answered with a protocol error instead of the answer of the chain. */
  readonly defect?: string;
  /** The configured agent id, else the name of the client, to which the recorder may add a number. */
  readonly actor: string;
  /**
   * The reason for which a person overrides the claim on a task; recorded with the arguments. No client can send it.
   */
  readonly force?: string;
  readonly progress: CallContext['progress'];
  /** Aborts when the client cancels the request. */
  readonly signal: AbortSignal;
}

/** A call that holds the lock. */
export interface ActiveCall {
  readonly chain: Chain;
  readonly call: Call;
  readonly event: ToolEnterEvent;
  /** Whether everything that the tool needs of what clients reported is in the ledger. */
  readonly isSettled: boolean;
}

/** A tool together with input that its schema accepted. */
export interface ValidCall {
  readonly tool: Tool;
  readonly input: unknown;
  /** Why the call is not recorded, for a tool that answers nevertheless. */
  readonly unrecorded?: Error;
}

/** What stage 4 runs the tool in: nothing, except for tools that write. */
export interface Scope {
  readonly transaction?: RecordedTransaction;
  /** The result of the tool's `prepare`. */
  readonly prepared?: unknown;
}
