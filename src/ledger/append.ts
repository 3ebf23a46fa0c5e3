import type { Transaction } from '../db/database.ts';
import { type Entry, encodeEntry } from '../integrity/index.ts';
import { storeFinishedSubtrees } from './stored-tree.ts';

/** Adds one entry and returns its index. The rows written, and the hashes computed, do not grow with the log. */
export async function append(transaction: Transaction, entry: Entry): Promise<number> {
  const [head] = await transaction.query<{ size: number }>(
    'UPDATE ledger_head SET size = size + 1 WHERE id = 1 RETURNING size',
  );
  if (head === undefined) throw new Error('the ledger has no head row');
  const index = head.size - 1;
  await transaction.query('INSERT INTO ledger_entries (idx, kind, entry) VALUES ($1, $2, $3)', [
    index,
    entry.kind,
    encodeEntry(entry),
  ]);
  await storeFinishedSubtrees(transaction, head.size);
  return index;
}
