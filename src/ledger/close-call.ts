import type { Transaction } from '../db/database.ts';
import { append } from './append.ts';

export const INTERRUPTED = 'interrupted';

export interface ClosedCall {
  readonly sequenceNo: number;
  readonly index: number;
  readonly at: string;
  readonly outcome: string;
  readonly durationMs: number | null;
}

export function closeCall(transaction: Transaction, { index, at, outcome, durationMs, sequenceNo }: ClosedCall): void {
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
