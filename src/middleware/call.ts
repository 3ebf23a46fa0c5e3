import type { CallContext } from '../context.ts';
import type { FifoLock } from '../fifo-lock.ts';
import type { Log } from '../log.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Tool } from '../tool.ts';
import type { RecordedTransaction, ToolEnterEvent } from './audit.ts';

/** What the stages of one server share. */
export interface Chain {
  readonly lock: FifoLock;
  readonly runtime: Runtime;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** One `tools/call` request. */
export interface Call {
  readonly name: string;
  /** Undefined for an unknown tool; such a call is recorded too. */
  readonly tool: Tool | undefined;
  readonly rawInput: unknown;
  /** The configured agent id, else the name of the client, to which the recorder may add a number. */
  readonly actor: string;
  /** The reason for which a person overrides the claim on a task; recorded with the arguments. No client can send it. */
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
