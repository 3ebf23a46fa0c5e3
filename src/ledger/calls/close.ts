import type { Transaction } from '../../db/database.ts';
import { type Digest, type Salt, saltedDigest } from '../../integrity/index.ts';
import type { ToolExitEvent } from '../../middleware/audit.ts';
import { append, appendEncoded, type EncodedEntry, encode } from '../append.ts';

export const INTERRUPTED = 'interrupted';

/** What is recorded of an exit event, and can be kept for a while: the answer itself may be long. */
export interface Exit extends ExitFields {
  /** Encoded for the call's number, where that is known already. */
  readonly encoded: { readonly sequenceNo: number; readonly entry: EncodedEntry } | undefined;
}

interface ExitFields extends Pick<ToolExitEvent, 'actor' | 'at' | 'correlationId' | 'durationMs' | 'outcome'> {
  readonly answer: Digest;
}

export function toExit(event: ToolExitEvent, salt: Salt, sequenceNo: number | undefined): Exit {
  const { actor, answerText, at, correlationId, durationMs, outcome } = event;
  const exit = { actor, answer: saltedDigest('answer', salt, answerText), at, correlationId, durationMs, outcome };
  const encoded = sequenceNo === undefined ? undefined : { sequenceNo, entry: encodeExit(sequenceNo, exit) };
  return { ...exit, encoded };
}

export async function exitCall(transaction: Transaction, sequenceNo: number, exit: Exit): Promise<void> {
  const { at, durationMs, encoded, outcome } = exit;
  const entry = encoded?.sequenceNo === sequenceNo ? encoded.entry : encodeExit(sequenceNo, exit);
  const index = await appendEncoded(transaction, entry);
  closeCall(transaction, { sequenceNo, index, at, outcome, durationMs });
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

interface ClosedCall {
  readonly sequenceNo: number;
  readonly index: number;
  readonly at: string;
  readonly outcome: string;
  readonly durationMs: number | null;
}

function closeCall(transaction: Transaction, { index, at, outcome, durationMs, sequenceNo }: ClosedCall): void {
  transaction.send(
    'UPDATE calls SET exit_idx = $1, exited_at = $2, outcome = $3, duration_ms = $4 WHERE sequence_no = $5',
    [index, at, outcome, durationMs, sequenceNo],
  );
}

/** The end of a call that will have no other. */
export async function interruptCall(
  transaction: Transaction,
  sequenceNo: number,
  { actor, at }: { readonly actor: string; readonly at: string },
): Promise<void> {
  const index = await append(transaction, { v: 1, kind: 'action.interrupted', at, actor, sequence_no: sequenceNo });
  closeCall(transaction, { sequenceNo, index, at, outcome: INTERRUPTED, durationMs: null });
}
