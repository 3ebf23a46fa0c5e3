import type { Transaction } from '../db/database.ts';
import { CUT_ARGUMENTS_LENGTH, canonicalize, MAX_ARGUMENTS_LENGTH, NotCanonical, sha256 } from '../integrity/index.ts';

/** Stages 3 and 5 speak to a sink; the ledger is one, and embedders may bring their own. */

export interface ToolEnterEvent {
  readonly tool: string;
  /** The arguments as the client sent them. */
  readonly args: unknown;
  /** Milliseconds of the monotonic clock. */
  readonly timestamp: number;
  readonly correlationId: string;
  readonly actor: string;
  /** The time of day, ISO-8601 UTC with milliseconds. */
  readonly at: string;
  /** The arguments as text: canonical, and bounded. */
  readonly argumentsText: string;
}

export interface ToolExitEvent {
  readonly tool: string;
  readonly correlationId: string;
  readonly durationMs: number;
  readonly actor: string;
  readonly at: string;
  /** `ok`, or the code of the failure. */
  readonly outcome: string;
  /** The text that the client receives; empty for a protocol error and for a cancelled request. */
  readonly answerText: string;
  /** What the tool returned, on success. */
  readonly result?: unknown;
  /** What the call failed with. */
  readonly error?: Error;
}

export interface AuditSink {
  /** Resolves when the entry is committed; a throw keeps the tool from running. */
  enter(event: ToolEnterEvent): Promise<void> | void;
  /** A transaction has begun that an exit will join: what the exit needs to know can be asked for now. */
  prepareExit?(correlationId: string, transaction: Transaction): void;
  /** With a transaction: to be committed or undone together with the tool's changes. A throw undoes them. */
  exit(event: ToolExitEvent, transaction?: Transaction): Promise<void> | void;
  /**
   * Whether an exit whose transaction ended in doubt was committed after all. A sink without this is never asked: it
   * writes to no store that can leave anybody in doubt.
   */
  wasRecorded?(correlationId: string): Promise<boolean>;
}

const NO_OP_SINK: AuditSink = Object.freeze({
  enter: () => undefined,
  exit: () => undefined,
});

export function createNoOpAuditSink(): AuditSink {
  return NO_OP_SINK;
}

export interface RecordedArguments {
  readonly text: string;
  readonly defect?: NotCanonical;
}

/** Every call is recorded, so there is a text for every input, also for one that no record may contain. */
export function recordArguments(raw: unknown): RecordedArguments {
  try {
    return { text: bounded(canonicalize(raw)) };
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    // The message names the path, and a key on it may be what is wrong.
    return { text: bounded(canonicalize({ refused: error.message.toWellFormed() })), defect: error };
  }
}

function bounded(text: string): string {
  if (text.length <= MAX_ARGUMENTS_LENGTH) return text;
  const start = text.slice(0, CUT_ARGUMENTS_LENGTH).toWellFormed();
  return canonicalize({ cut: true, length: text.length, sha256: sha256(text), start });
}
