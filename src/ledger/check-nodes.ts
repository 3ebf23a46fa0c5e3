import type { Reader } from '../db/database.ts';
import type { TreeNode } from './log-tree.ts';
import { BLOCK } from './stored-tree.ts';
import type { Report } from './verify.ts';

/** Compares the inner nodes that the leaves give with those that are stored. */
export class NodeCheck {
  readonly #reader: Reader;
  readonly #report: Report;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  /** The nodes of one stretch of the log: those of one level lie side by side. */
  async check(nodes: readonly TreeNode[]): Promise<void> {
    for (const level of new Set(nodes.map((node) => node.level))) {
      const computed = nodes.filter((node) => node.level === level);
      const rows = await this.#reader.query<{ idx: number; hash: string }>(
        'SELECT idx, hash FROM ledger_nodes WHERE level = $1 AND idx >= $2 AND idx <= $3',
        [level, computed[0]?.index ?? 0, computed.at(-1)?.index ?? 0],
      );
      const stored = new Map(rows.map(({ idx, hash }) => [idx, hash]));
      for (const { index, hash } of computed) {
        const found = stored.get(index);
        if (found !== hash)
          this.#report(`node ${level}/${index}`, found === undefined ? 'is missing' : 'does not match its leaves');
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
