import type { Reader } from '../db/database.ts';
import type { Digest } from '../integrity/index.ts';
import { StoredTree } from './stored-tree.ts';

export interface LedgerHead {
  readonly size: number;
  readonly root: Digest;
}

export async function readHead(reader: Reader): Promise<LedgerHead> {
  const size = await readSize(reader);
  return { size, root: await new StoredTree(reader, size).root() };
}

export async function readSize(reader: Reader): Promise<number> {
  const [head] = await reader.query<{ size: number }>('SELECT size FROM ledger_head WHERE id = 1');
  if (head === undefined) throw new Error('the ledger has no head row');
  return head.size;
}
