import type { Transaction } from '../db/database.ts';
import { type Digest, type Entry, encodeEntry, leafHash, type Salt } from '../integrity/index.ts';
import { storeFinishedSubtrees } from './stored-tree.ts';
import { nextTail } from './tail.ts';

export interface Head {
  readonly size: number;
  readonly tail: string;
}

/** An entry as it will be stored. It does not depend on its index, so it can be made before the write lock is taken. */
export interface EncodedEntry {
  readonly text: string;
  readonly leaf: Digest;
}

export function encode(entry: Entry): EncodedEntry {
  const text = encodeEntry(entry);
  return { text, leaf: leafHash(text) };
}

/** A write transaction is the only writer, so it reads the head once. */
const heads = new WeakMap<Transaction, Head | Promise<Head>>();

/** Shares a head that the caller already queried. */
export function expectHead(transaction: Transaction, head: Promise<Head>): void {
  // append() surfaces the rejection.
  head.catch(() => undefined);
  // What this transaction has appended is not in the table yet.
  if (!heads.has(transaction)) heads.set(transaction, head);
}

/** Adds one entry and returns its index. The rows written, and the hashes computed, do not grow with the log. */
export function append(transaction: Transaction, entry: Entry): Promise<number> {
  return appendEncoded(transaction, encode(entry));
}

/** What the log keeps only a salted digest of, stored beside the entry that has the digest. */
export interface PrivateContent {
  readonly salt: Salt;
  readonly content: string;
}

export async function appendEncoded(
  transaction: Transaction,
  { text, leaf }: EncodedEntry,
  kept?: PrivateContent,
): Promise<number> {
  const { size: index, tail } = await (heads.get(transaction) ?? readHead(transaction));
  const size = index + 1;
  const head = { size, tail: nextTail(tail, leaf, size) };
  heads.set(transaction, head);
  if (kept === undefined) transaction.send('INSERT INTO ledger_entries (idx, entry) VALUES ($1, $2)', [index, text]);
  else
    transaction.send('INSERT INTO ledger_entries (idx, entry, salt, content) VALUES ($1, $2, $3, $4)', [
      index,
      text,
      kept.salt,
      kept.content,
    ]);
  transaction.sendAtCommit('UPDATE ledger_head SET size = $1, tail = $2 WHERE id = 1', [head.size, head.tail]);
  await storeFinishedSubtrees(transaction, size);
  return index;
}

async function readHead(transaction: Transaction): Promise<Head> {
  const [head] = await transaction.query<Head>('SELECT size, tail FROM ledger_head WHERE id = 1');
  if (head === undefined) throw new Error('the ledger has no head row');
  return head;
}
