import { DatabaseError, type Reader, type Transaction } from '../db/database.ts';
import {
  consistencyRanges,
  type Digest,
  EMPTY_ROOT,
  findLeafHash,
  foldRange,
  inclusionRanges,
  type LeafRange,
  nodeHash,
  perfectSubtrees,
} from '../integrity/index.ts';

/**
 * Only every fourth level of inner nodes is stored, when its subtree is full; the levels between are computed from at
 * most 16 children. An append therefore writes one row, and once in 16 one more, and any hash is a few short reads.
 */
export const LEVELS_PER_BLOCK = 4;
export const BLOCK = 2 ** LEVELS_PER_BLOCK;

/** Call it when the log has grown to `size`. */
export async function storeFinishedSubtrees(transaction: Transaction, size: number): Promise<void> {
  let level = 0;
  for (let count = size; count % BLOCK === 0 && count > 0; count /= BLOCK) {
    const index = count / BLOCK - 1;
    const children = await readNodes(transaction, level, index * BLOCK, count);
    level += LEVELS_PER_BLOCK;
    const node = [level, index, perfectRoot(children)];
    transaction.send('INSERT INTO ledger_nodes (level, idx, hash) VALUES ($1, $2, $3)', node);
  }
}

/** Stores the nodes above the first entry again, after it was replaced. */
export async function storeSpine(transaction: Transaction, size: number): Promise<void> {
  for (let level = LEVELS_PER_BLOCK; size >= 2 ** level; level += LEVELS_PER_BLOCK) {
    const hash = perfectRoot(await readNodes(transaction, level - LEVELS_PER_BLOCK, 0, BLOCK));
    await transaction.query('UPDATE ledger_nodes SET hash = $1 WHERE level = $2 AND idx = 0', [hash, level]);
  }
}

/** The tree over the first `size` entries, as far as the caller asks for it. */
export class StoredTree {
  readonly #reader: Reader;
  readonly #size: number;
  readonly #blocks = new Map<string, readonly Digest[]>();

  constructor(reader: Reader, size: number) {
    this.#reader = reader;
    this.#size = size;
  }

  root(): Promise<Digest> {
    return this.#hashOf({ begin: 0, end: this.#size });
  }

  /** The root of a log that ended earlier: its subtrees are those of this one. */
  rootOfFirst(count: number): Promise<Digest> {
    return this.#hashOf({ begin: 0, end: count });
  }

  inclusionProof(index: number): Promise<Digest[]> {
    return this.hashesOf(inclusionRanges(index, this.#size));
  }

  consistencyProof(oldSize: number): Promise<Digest[]> {
    return this.hashesOf(consistencyRanges(oldSize, this.#size));
  }

  /** The hashes of ranges that are subtrees. */
  async hashesOf(ranges: readonly LeafRange[]): Promise<Digest[]> {
    const hashes: Digest[] = [];
    for (const range of ranges) hashes.push(await this.#hashOf(range));
    return hashes;
  }

  async #hashOf(range: LeafRange): Promise<Digest> {
    const hashes: Digest[] = [];
    for (const { level, index } of perfectSubtrees(range)) hashes.push(await this.#subtree(level, index));
    return foldRange(hashes);
  }

  async #subtree(level: number, index: number): Promise<Digest> {
    const storedLevel = level - (level % LEVELS_PER_BLOCK);
    const width = 2 ** (level - storedLevel);
    const first = index * width;
    const block = Math.floor(first / BLOCK);
    const nodes = await this.#block(storedLevel, block);
    return perfectRoot(nodes.slice(first - block * BLOCK, first - block * BLOCK + width));
  }

  /** Neighbours in the tree are asked for together, so a block is read once. */
  async #block(level: number, block: number): Promise<readonly Digest[]> {
    const key = `${level}/${block}`;
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const count = Math.floor(this.#size / 2 ** level);
    const nodes = await readNodes(this.#reader, level, block * BLOCK, Math.min((block + 1) * BLOCK, count));
    this.#blocks.set(key, nodes);
    return nodes;
  }
}

async function readNodes(reader: Reader, level: number, begin: number, end: number): Promise<Digest[]> {
  const hashes = await readStored(reader, level, begin, end);
  if (hashes.length !== end - begin) {
    throw new DatabaseError('corrupt', `the ledger misses rows between ${begin} and ${end} of level ${level}`, {
      advice: 'run colibri verify',
    });
  }
  return hashes;
}

/** The hashes that can be read off the tables: level 0 from the entries, every fourth above from the stored nodes. */
export function readStored(reader: Reader, level: number, begin: number, end: number): Promise<Digest[]> {
  return level === 0 ? readLeaves(reader, begin, end) : readInner(reader, level, begin, end);
}

async function readLeaves(reader: Reader, begin: number, end: number): Promise<Digest[]> {
  const rows = await reader.query<{ entry: string }>(
    'SELECT entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
    [begin, end],
  );
  return rows.map(({ entry }) => storedLeaf(entry));
}

/** SQLite takes bytes in any column. In place of a text they get a hash that no leaf has. */
export function storedLeaf(entry: unknown): Digest {
  return (typeof entry === 'string' ? findLeafHash(entry) : undefined) ?? EMPTY_ROOT;
}

async function readInner(reader: Reader, level: number, begin: number, end: number): Promise<Digest[]> {
  const rows = await reader.query<{ hash: string }>(
    'SELECT hash FROM ledger_nodes WHERE level = $1 AND idx >= $2 AND idx < $3 ORDER BY idx',
    [level, begin, end],
  );
  return rows.map(({ hash }) => hash);
}

/** The root over a number of hashes that is a power of two. */
function perfectRoot(hashes: readonly Digest[]): Digest {
  let level = hashes;
  while (level.length > 1) {
    const parents: Digest[] = [];
    for (let index = 0; index + 1 < level.length; index += 2) {
      parents.push(nodeHash(level[index] as Digest, level[index + 1] as Digest));
    }
    level = parents;
  }
  return level[0] as Digest;
}
