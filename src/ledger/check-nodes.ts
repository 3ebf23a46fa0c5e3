import type { Reader } from '../db/database.ts';
import type { Digest } from '../integrity/index.ts';
import type { TreeNode } from './log-tree.ts';
import type { ProblemList } from './problem-list.ts';
import { BLOCK } from './stored-tree.ts';

/** Compares the inner nodes that the leaves give with those that are stored, and forgets them page by page. */
export class NodeCheck {
  readonly #reader: Reader;
  readonly #report: ProblemList['report'];
  /** By level: the hashes since the last page, which lie side by side, and the index of the first. */
  #levels = new Map<number, { readonly first: number; readonly hashes: Digest[] }>();

  constructor(reader: Reader, report: ProblemList['report']) {
    this.#reader = reader;
    this.#report = report;
  }

  /** To be called with the nodes in the order in which they become complete. */
  readonly computed = (nodes: readonly TreeNode[]): void => {
    for (const { level, index, hash } of nodes) {
      const known = this.#levels.get(level);
      if (known === undefined) this.#levels.set(level, { first: index, hashes: [hash] });
      else known.hashes.push(hash);
    }
  };

  async page(): Promise<void> {
    const levels = this.#levels;
    this.#levels = new Map();
    for (const [level, { first, hashes }] of levels) {
      const rows = await this.#reader.query<{ idx: number; hash: string }>(
        'SELECT idx, hash FROM ledger_nodes WHERE level = $1 AND idx >= $2 AND idx < $3',
        [level, first, first + hashes.length],
      );
      const stored = new Map(rows.map(({ idx, hash }) => [idx, hash]));
      for (const [offset, hash] of hashes.entries()) {
        const index = first + offset;
        const found = stored.get(index);
        const problem = found === undefined ? 'is missing' : 'does not match its leaves';
        if (found !== hash) this.#report(`node ${level}/${index}`, problem, (index + 1) * 2 ** level);
      }
    }
  }

  /** Every expected node was looked at; what the table holds beyond them belongs to no tree. */
  async finish(size: number): Promise<void> {
    const [counted] = await this.#reader.query<{ nodes: number }>('SELECT COUNT(*) AS nodes FROM ledger_nodes');
    let expected = 0;
    for (let count = Math.floor(size / BLOCK); count > 0; count = Math.floor(count / BLOCK)) expected += count;
    if (counted?.nodes !== expected) this.#report('ledger_nodes', `has ${counted?.nodes} rows instead of ${expected}`);
  }
}
