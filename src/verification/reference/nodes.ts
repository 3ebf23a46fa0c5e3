import type { Reader } from '../../db/database.ts';
import type { Digest } from '../../integrity/index.ts';
import { BLOCK } from '../../ledger/stored-tree.ts';
import type { TreeNode } from '../log-tree.ts';
import type { Report } from '../report.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

/** Compares the stored inner nodes with those computed from the leaves. */
export class NodeCheck {
  readonly #reader: Reader;
  readonly #report: Report;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  /** Expects nodes in the order of their completion, so that those of one level are consecutive. */
  async page(nodes: readonly TreeNode[]): Promise<void> {
    for (const [level, { first, hashes }] of byLevel(nodes)) {
      const rows = await this.#reader.query<{ idx: number; hash: string }>(
        'SELECT idx, hash FROM ledger_nodes WHERE level = $1 AND idx >= $2 AND idx < $3',
        [level, first, first + hashes.length],
      );
      const stored = indexRows(
        rows,
        ({ idx }) => idx,
        (index) => this.#report(`node ${level}/${index}`, STORED_TWICE),
      );
      for (const [offset, hash] of hashes.entries()) {
        const index = first + offset;
        const found = stored.get(index)?.hash;
        const problem = found === undefined ? 'is missing' : 'does not match its leaves';
        if (found !== hash) this.#report(`node ${level}/${index}`, problem);
      }
    }
  }

  /** Every expected node was compared; any other row is an orphan. */
  async finish(size: number): Promise<void> {
    const [counted] = await this.#reader.query<{ nodes: number }>('SELECT COUNT(*) AS nodes FROM ledger_nodes');
    let expected = 0;
    for (let count = Math.floor(size / BLOCK); count > 0; count = Math.floor(count / BLOCK)) expected += count;
    if (counted?.nodes !== expected) this.#report('ledger_nodes', `has ${counted?.nodes} rows instead of ${expected}`);
  }
}

interface Level {
  /** The index of the first node. */
  readonly first: number;
  readonly hashes: Digest[];
}

function byLevel(nodes: readonly TreeNode[]): ReadonlyMap<number, Level> {
  const levels = new Map<number, Level>();
  for (const { level, index, hash } of nodes) {
    const known = levels.get(level);
    if (known === undefined) levels.set(level, { first: index, hashes: [hash] });
    else known.hashes.push(hash);
  }
  return levels;
}
