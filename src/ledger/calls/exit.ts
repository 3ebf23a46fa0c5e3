import type { Transaction } from '../../db/database.ts';
import { type Digest, type Salt, saltedDigest } from '../../integrity/index.ts';
import type { ToolExitEvent } from '../../middleware/audit.ts';
import { append, appendEncoded, type EncodedEntry, encode } from '../append.ts';
import { enterCall, type OpenCall } from './enter.ts';
import type { CallState } from './state.ts';

/** An exit event as it is recorded, without the answer, which may be large. */
export interface Exit extends ExitFields {
  /** Encoded before the write lock is taken, if the number of the call is known by then. */
  readonly encoded: { readonly sequenceNo: number; readonly entry: EncodedEntry } | undefined;
}

interface ExitFields extends Pick<ToolExitEvent, 'actor' | 'at' | 'correlationId' | 'durationMs' | 'outcome'> {
  readonly answer: Digest;
}

export function toExit(event: ToolExitEvent, salt: Salt, sequenceNo: number | undefined): Exit {
  const { actor, answerText, at, correlationId, durationMs, outcome } = event;
  const exit = { actor, answer: saltedDigest('answer', salt, answerText), at, correlationId, durationMs, outcome };
  const encoded = sequenceNo === undefined ? undefined : { sequenceNo, entry: encodeExit(sequenceNo, exit) };
  return { encoded, ...exit };
}

/** Where the exit of a call is in the log. */
export interface ExitPlace {
  readonly index: number;
  readonly leaf: Digest;
}

/**
 * A call exits once. Returns false if another server took this process for dead and closed the call as interrupted, and
 * true if the exit was recorded before.
 */
export async function exitCall(
  transaction: Transaction,
  call: OpenCall,
  exit: Exit,
  state: CallState,
): Promise<ExitPlace | boolean> {
  if (state === 'recorded') return true;
  if (state === 'interrupted') return false;
  // A database server that crashed may have lost an enter that was not flushed yet.
  if (state === 'missing' && call.name !== undefined) call.enter = await call.name(transaction);
  call.sequenceNo = state === 'missing' ? await enterCall(transaction, call.enter) : state;
  const { encoded } = exit;
  const { sequenceNo } = call;
  const entry =
    encoded?.sequenceNo === sequenceNo ? encoded.entry : encodeExit(sequenceNo, { ...exit, actor: call.enter.actor });
  const index = await appendEncoded(transaction, entry);
  closeCall(transaction, sequenceNo, index);
  return { index, leaf: entry.leaf };
}

/** Closes a call that will never exit. */
export async function interruptCall(
  transaction: Transaction,
  sequenceNo: number,
  { actor, at }: { readonly actor: string; readonly at: string },
): Promise<void> {
  const index = await append(transaction, { v: 1, kind: 'action.interrupted', at, actor, sequence_no: sequenceNo });
  closeCall(transaction, sequenceNo, index);
}

function encodeExit(sequenceNo: number, { actor, answer, at, durationMs, outcome }: ExitFields): EncodedEntry {
  return encode({
    actor,
    answer,
    at,
    duration_ms: durationMs,
    kind: 'action.exit',
    outcome,
    sequence_no: sequenceNo,
    v: 1,
  });
}

function closeCall(transaction: Transaction, sequenceNo: number, exitIndex: number): void {
  transaction.send('INSERT INTO call_exits (sequence_no, exit_idx) VALUES ($1, $2)', [sequenceNo, exitIndex]);
}
