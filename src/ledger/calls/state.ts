import type { Transaction } from '../../db/database.ts';
import type { Salt } from '../../integrity/index.ts';
import { expectHead, type Head } from '../append.ts';
import { INTERRUPTED } from './close.ts';

/** What tells a call from all others. */
export interface CallKey {
  /** No other call has the same, so that it also tells whose a row is. */
  readonly salt: Salt;
  /** Undefined while nobody knows whether the call was entered. */
  readonly sequenceNo: number | undefined;
}

/** How far back a call can be that was entered in doubt a moment ago. */
const FEW_CALLS = 10_000;

/** For a call whose number is not known. */
export async function findBySalt(transaction: Transaction, salt: Salt): Promise<State> {
  const [row] = await transaction.query<CallState>(
    'SELECT sequence_no, outcome FROM calls WHERE salt = $1 AND sequence_no > (SELECT MAX(sequence_no) FROM calls) - $2',
    [salt, FEW_CALLS],
  );
  return row === undefined ? 'missing' : toState(row);
}

/** Its number when it is open. */
export type State = number | 'missing' | 'recorded' | 'interrupted';

/** Everything that an exit needs to know, in one question. */
export function askAhead(transaction: Transaction, { sequenceNo = -1, salt }: CallKey): Promise<State> {
  const asked = transaction.query<Head & CallState>(
    `SELECT size, tail, sequence_no, outcome FROM ledger_head LEFT JOIN calls ON sequence_no = $1 AND salt = $2
     WHERE id = 1`,
    [sequenceNo, salt],
  );
  const first = asked.then(([row]) => row ?? Promise.reject(new Error('the ledger has no head row')));
  expectHead(transaction, first);
  // A call without a number entered in doubt: where its row is, if there is one, only the salt tells.
  const state = sequenceNo === -1 ? findBySalt(transaction, salt) : first.then(toState);
  // Who closes the call meets the failure; where nobody does, it does not matter.
  state.catch(() => undefined);
  return state;
}

interface CallState {
  readonly sequence_no: number | null;
  readonly outcome: string | null;
}

export async function stateOf(transaction: Transaction, { sequenceNo, salt }: CallKey): Promise<State> {
  if (sequenceNo === undefined) return findBySalt(transaction, salt);
  const [row] = await transaction.query<CallState>(
    'SELECT sequence_no, outcome FROM calls WHERE sequence_no = $1 AND salt = $2',
    [sequenceNo, salt],
  );
  return row === undefined ? 'missing' : toState(row);
}

function toState({ sequence_no, outcome }: CallState): State {
  if (sequence_no === null) return 'missing';
  if (outcome === null) return sequence_no;
  return outcome === INTERRUPTED ? 'interrupted' : 'recorded';
}
