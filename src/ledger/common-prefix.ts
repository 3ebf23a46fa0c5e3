import type { Reader } from '../db/database.ts';
import { StoredTree } from './stored-tree.ts';

export interface Side {
  readonly reader: Reader;
  readonly size: number;
}

/** How many entries two logs have in common from the first one on. Equal roots mean equal entries up to there. */
export async function countCommonEntries(one: Side, other: Side): Promise<number> {
  let common = 0;
  let differing = Math.min(one.size, other.size);
  if (await areEqualAt(one, other, differing)) return differing;
  while (differing - common > 1) {
    const middle = Math.floor((common + differing) / 2);
    if (await areEqualAt(one, other, middle)) common = middle;
    else differing = middle;
  }
  return common;
}

async function areEqualAt(one: Side, other: Side, size: number): Promise<boolean> {
  if (size === 0) return true;
  return (await new StoredTree(one.reader, size).root()) === (await new StoredTree(other.reader, size).root());
}
