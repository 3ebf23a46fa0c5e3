import { randomUUID } from 'node:crypto';
import type { Transaction } from '../db/database.ts';
import { leafHash, parseEntry } from '../integrity/index.ts';
import { encode } from '../ledger/append.ts';
import { readHead } from '../ledger/head.ts';
import { BLOCK, readStored, storeSpine } from '../ledger/stored-tree.ts';
import { nextTail } from '../ledger/tail.ts';

export interface Continued {
  /** The id of the new log. */
  readonly ledgerId: string;
  readonly size: number;
}

/**
 * Makes a new log of one that does not extend what was signed: the same entries behind a new first one, which names the
 * old log, its size and its root. Every other entry keeps its index, and the old root can still be computed.
 */
export async function continueLog(
  db: Transaction,
  { actor, at }: { readonly actor: string; readonly at: string },
): Promise<Continued> {
  const { size, root } = await readHead(db);
  const [first] = await db.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = 0');
  const old = first && parseEntry(first.entry);
  if (first === undefined || old === undefined) throw new Error('the log has no first entry');
  const ledgerId = randomUUID();
  const continues = { ledger_id: old['ledger_id'] as string, leaf: leafHash(first.entry), size, root };
  const { text } = encode({ v: 1, kind: 'genesis', at, actor, ledger_id: ledgerId, continues });
  await db.query('UPDATE ledger_entries SET entry = $1 WHERE idx = 0', [text]);
  await storeSpine(db, size);
  if (size < BLOCK) {
    const leaves = await readStored(db, 0, 0, size);
    const tail = leaves.reduce((sofar, leaf, index) => nextTail(sofar, leaf, index + 1), '');
    await db.query('UPDATE ledger_head SET tail = $1 WHERE id = 1', [tail]);
  }
  return { ledgerId, size };
}
