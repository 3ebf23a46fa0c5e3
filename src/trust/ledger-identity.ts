import type { Reader } from '../db/database.ts';
import { parseEntry } from '../integrity/index.ts';
import { readSize } from '../ledger/head.ts';
import { StoredTree } from '../ledger/stored-tree.ts';
import type { LedgerIdentity } from './acceptance.ts';

/** Of the ledger as it is or, with a size, as it was with so many entries; undefined if it never had so many. */
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
