import type { Reader } from '../db/database.ts';
import { TreeBuilder } from '../integrity/index.ts';
import { BLOCK, LEVELS_PER_BLOCK, readStored } from './stored-tree.ts';

/** Checks entries against the tree above them, as far as it is stored. Neighbours share the work. */
export class LeafCheck {
  readonly #reader: Reader;
  readonly #verdicts = new Map<string, boolean>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** False when a stored node above the entry does not match what is below it. */
  async holds(index: number): Promise<boolean> {
    let position = Math.floor(index / BLOCK);
    for (let level = 0; ; level += LEVELS_PER_BLOCK, position = Math.floor(position / BLOCK)) {
      const verdict = await this.#block(level, position);
      if (verdict !== true) return verdict ?? true;
    }
  }

  /** Undefined when the block is not full yet, and so has no stored node. */
  async #block(level: number, position: number): Promise<boolean | undefined> {
    const key = `${level}/${position}`;
    if (this.#verdicts.has(key)) return this.#verdicts.get(key);
    const [stored] = await this.#reader.query<{ hash: string }>(
      'SELECT hash FROM ledger_nodes WHERE level = $1 AND idx = $2',
      [level + LEVELS_PER_BLOCK, position],
    );
    if (stored === undefined) return undefined;
    const tree = new TreeBuilder();
    const begin = position * BLOCK;
    for (const hash of await readStored(this.#reader, level, begin, begin + BLOCK)) tree.add(hash);
    const holds = tree.size === BLOCK && tree.root() === stored.hash;
    // Records come in the order of the log: what was far back is not asked for again.
    if (this.#verdicts.size > MAX_VERDICTS) this.#verdicts.clear();
    this.#verdicts.set(key, holds);
    return holds;
  }
}

const MAX_VERDICTS = 4096;
