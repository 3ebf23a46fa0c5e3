import type { Reader } from '../db/database.ts';
import { parseEntry } from '../integrity/index.ts';
import { readSize } from '../ledger/head.ts';
import { StoredTree } from '../ledger/stored-tree.ts';
import type { LedgerIdentity } from './acceptance.ts';

/** The identity of the ledger now, or at an earlier size; undefined if it has fewer entries. */
export async function readIdentity(reader: Reader, atSize?: number): Promise<LedgerIdentity | undefined> {
  const present = await readSize(reader);
  const size = atSize ?? present;
  if (size < 1 || size > present) return undefined;
  const [first] = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = 0');
  const genesis = first === undefined ? undefined : parseEntry(first.entry);
  const ledgerId = genesis?.['ledger_id'];
  if (typeof ledgerId !== 'string') return undefined;
  return { ledgerId, size, root: await new StoredTree(reader, size).root() };
}
