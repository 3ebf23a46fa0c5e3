import type { Transaction } from '../db/database.ts';
import { type Entry, encodeEntry, leafHash } from '../integrity/index.ts';
import { storeFinishedSubtrees } from './stored-tree.ts';
import { nextTail } from './tail.ts';

export interface Head {
  readonly size: number;
  readonly tail: string;
}

/** Nobody else writes while a transaction does, so its head is read once. */
const heads = new WeakMap<Transaction, Head | Promise<Head>>();

/** For who has asked for the head before it is needed, together with something else. */
export function expectHead(transaction: Transaction, head: Promise<Head>): void {
  // Who appends meets the failure; where nobody does, it does not matter.
  head.catch(() => undefined);
  // What this transaction has appended is not in the table yet.
  if (!heads.has(transaction)) heads.set(transaction, head);
}

/** Adds one entry and returns its index. The rows written, and the hashes computed, do not grow with the log. */
export async function append(transaction: Transaction, entry: Entry): Promise<number> {
  const { size: index, tail } = await (heads.get(transaction) ?? readHead(transaction));
  const text = encodeEntry(entry);
  const size = index + 1;
  const head = { size, tail: nextTail(tail, leafHash(text), size) };
  heads.set(transaction, head);
  transaction.send('INSERT INTO ledger_entries (idx, kind, entry) VALUES ($1, $2, $3)', [index, entry.kind, text]);
  transaction.sendLast('UPDATE ledger_head SET size = $1, tail = $2 WHERE id = 1', [head.size, head.tail]);
  await storeFinishedSubtrees(transaction, size);
  return index;
}

async function readHead(transaction: Transaction): Promise<Head> {
  const [head] = await transaction.query<Head>('SELECT size, tail FROM ledger_head WHERE id = 1');
  if (head === undefined) throw new Error('the ledger has no head row');
  return head;
}
