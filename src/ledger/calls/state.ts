import type { Transaction } from '../../db/database.ts';
import { parseEntry, type Salt } from '../../integrity/index.ts';
import { expectHead, type Head } from '../append.ts';
import type { OpenCall } from './enter.ts';

/** The number of the call while it is open. */
export type CallState = number | 'missing' | 'recorded' | 'interrupted';

/** Joins the entry that ended a call, if one did, to its enter entry. */
const WITH_EXIT = `LEFT JOIN call_exits ON call_exits.sequence_no = enter.idx
  LEFT JOIN ledger_entries AS leave ON leave.idx = call_exits.exit_idx`;

/**
 * Reads the head of the log and the state of a call in one query; `append` in this transaction then reuses the head.
 */
export function queryHeadAndState(transaction: Transaction, { sequenceNo = -1, enter }: OpenCall): Promise<CallState> {
  const queried = transaction.query<Head & StateRow>(
    `SELECT size, tail, enter.idx, leave.entry AS exit_entry
     FROM ledger_head LEFT JOIN ledger_entries AS enter ON enter.idx = $1 AND enter.salt = $2 ${WITH_EXIT}
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

/**
 * By the entry, because a call that has ended may have been redacted since: its salt is gone then, and its arguments
 * too.
 */
export async function queryState(transaction: Transaction, { sequenceNo, enter }: OpenCall): Promise<CallState> {
  if (sequenceNo === undefined) return findBySalt(transaction, enter.salt);
  const [row] = await transaction.query<StateRow>(
    `SELECT enter.idx, leave.entry AS exit_entry FROM ledger_entries AS enter ${WITH_EXIT}
     WHERE enter.idx = $1 AND enter.entry = $2`,
    [sequenceNo, enter.entry.text],
  );
  return row === undefined ? 'missing' : toState(row);
}

/** How far back to search for a call that was entered a moment ago: there is no index on salts. */
const MAX_AGE_ENTRIES = 30_000;

/** For a call whose number is unknown, because the connection was lost while it was entered. */
export async function findBySalt(transaction: Transaction, salt: Salt): Promise<CallState> {
  const [row] = await transaction.query<StateRow>(
    `SELECT enter.idx, leave.entry AS exit_entry FROM ledger_entries AS enter ${WITH_EXIT}
     WHERE enter.salt = $1 AND enter.idx >= (SELECT size FROM ledger_head WHERE id = 1) - $2`,
    [salt, MAX_AGE_ENTRIES],
  );
  return row === undefined ? 'missing' : toState(row);
}

interface StateRow {
  readonly idx: number | null;
  readonly exit_entry: string | null;
}

function toState({ idx, exit_entry }: StateRow): CallState {
  if (idx === null) return 'missing';
  if (exit_entry === null) return idx;
  return parseEntry(exit_entry)?.kind === 'action.interrupted' ? 'interrupted' : 'recorded';
}
