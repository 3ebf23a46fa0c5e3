import type { Transaction } from '../db/database.ts';
import { type Digest, type Salt, saltedDigest } from '../integrity/index.ts';
import type { ToolExitEvent } from '../middleware/audit.ts';
import { append } from './append.ts';

export const INTERRUPTED = 'interrupted';

/** What is recorded of an exit event, and can be kept for a while: the answer itself may be long. */
export interface Exit extends Pick<ToolExitEvent, 'actor' | 'at' | 'correlationId' | 'durationMs' | 'outcome'> {
  readonly answer: Digest;
}

export function toExit(event: ToolExitEvent, salt: Salt): Exit {
  const { actor, answerText, at, correlationId, durationMs, outcome } = event;
  return { actor, answer: saltedDigest('answer', salt, answerText), at, correlationId, durationMs, outcome };
}

export async function exitCall(transaction: Transaction, sequenceNo: number, exit: Exit): Promise<void> {
  const { actor, answer, at, durationMs, outcome } = exit;
  const index = await append(transaction, {
    actor,
    answer,
    at,
    duration_ms: durationMs,
    kind: 'action.exit',
    outcome,
    sequence_no: sequenceNo,
    v: 1,
  });
  closeCall(transaction, { sequenceNo, index, at, outcome, durationMs });
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
