import type { Transaction } from '../db/database.ts';
import { type Entry, encodeEntry, leafHash } from '../integrity/index.ts';
import { storeFinishedSubtrees } from './stored-tree.ts';
import { nextTail } from './tail.ts';

/** Adds one entry and returns its index. The rows written, and the hashes computed, do not grow with the log. */
export async function append(transaction: Transaction, entry: Entry): Promise<number> {
  const [head] = await transaction.query<{ size: number; tail: string }>(
    'SELECT size, tail FROM ledger_head WHERE id = 1',
  );
  if (head === undefined) throw new Error('the ledger has no head row');
  const text = encodeEntry(entry);
  const size = head.size + 1;
  const tail = nextTail(head.tail, leafHash(text), size);
  await transaction.query('UPDATE ledger_head SET size = $1, tail = $2 WHERE id = 1', [size, tail]);
  await transaction.query('INSERT INTO ledger_entries (idx, kind, entry) VALUES ($1, $2, $3)', [
    head.size,
    entry.kind,
    text,
  ]);
  await storeFinishedSubtrees(transaction, size);
  return head.size;
}
