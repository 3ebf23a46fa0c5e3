import type { Transaction } from '../../db/database.ts';
import type { Salt } from '../../integrity/index.ts';
import { expectHead, type Head } from '../append.ts';
import type { OpenCall } from './enter.ts';

/** The outcome of a call whose process died. */
export const INTERRUPTED = 'interrupted';

/** The number of the call while it is open. */
export type CallState = number | 'missing' | 'recorded' | 'interrupted';

/** Reads the head of the log and the state of a call in one query; `append` in this transaction then reuses the head. */
export function queryHeadAndState(transaction: Transaction, { sequenceNo = -1, enter }: OpenCall): Promise<CallState> {
  const queried = transaction.query<Head & StateRow>(
    `SELECT size, tail, sequence_no, outcome FROM ledger_head LEFT JOIN calls ON sequence_no = $1 AND salt = $2
     WHERE id = 1`,
    [sequenceNo, enter.salt],
  );
  const row = queried.then(([first]) => first ?? Promise.reject(new Error('the ledger has no head row')));
  expectHead(transaction, row);
  const state = sequenceNo === -1 ? findBySalt(transaction, enter.salt) : row.then(toState);
  // The exit surfaces the rejection.
  state.catch(() => undefined);
  return state;
}

export async function queryState(transaction: Transaction, { sequenceNo, enter }: OpenCall): Promise<CallState> {
  if (sequenceNo === undefined) return findBySalt(transaction, enter.salt);
  const [row] = await transaction.query<StateRow>(
    'SELECT sequence_no, outcome FROM calls WHERE sequence_no = $1 AND salt = $2',
    [sequenceNo, enter.salt],
  );
  return row === undefined ? 'missing' : toState(row);
}

/** How far back to search for a call that was entered a moment ago: there is no index on salts. */
const MAX_AGE_ENTRIES = 10_000;

/** For a call whose number is unknown, because the connection was lost while it was entered. */
export async function findBySalt(transaction: Transaction, salt: Salt): Promise<CallState> {
  const [row] = await transaction.query<StateRow>(
    'SELECT sequence_no, outcome FROM calls WHERE salt = $1 AND sequence_no > (SELECT MAX(sequence_no) FROM calls) - $2',
    [salt, MAX_AGE_ENTRIES],
  );
  return row === undefined ? 'missing' : toState(row);
}

interface StateRow {
  readonly sequence_no: number | null;
  readonly outcome: string | null;
}

function toState({ sequence_no, outcome }: StateRow): CallState {
  if (sequence_no === null) return 'missing';
  if (outcome === null) return sequence_no;
  return outcome === INTERRUPTED ? 'interrupted' : 'recorded';
}
