import type { Reader } from '../db/database.ts';
import { TreeBuilder } from '../integrity/index.ts';
import { readSize } from './head.ts';
import { BLOCK, LEVELS_PER_BLOCK, readStored } from './stored-tree.ts';

const MAX_VERDICTS = 4096;

/** Checks entries against the tree above them, as far as it is stored. Neighbours share the work. */
export class LeafCheck {
  readonly #reader: Reader;
  readonly #verdicts = new Map<string, boolean>();
  #size: number | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** False when the entry is outside of the log, or a node above it is missing or does not match what is below it. */
  async holds(index: number): Promise<boolean> {
    this.#size ??= await readSize(this.#reader);
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.#size) return false;
    let position = Math.floor(index / BLOCK);
    // A node is stored as soon as its subtree is full; above the last full one there is nothing to compare with.
    for (let level = 0; (position + 1) * BLOCK * 2 ** level <= this.#size; level += LEVELS_PER_BLOCK) {
      if (!(await this.#block(level, position))) return false;
      position = Math.floor(position / BLOCK);
    }
    return true;
  }

  async #block(level: number, position: number): Promise<boolean> {
    const key = `${level}/${position}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const [stored] = await this.#reader.query<{ hash: string }>(
      'SELECT hash FROM ledger_nodes WHERE level = $1 AND idx = $2',
      [level + LEVELS_PER_BLOCK, position],
    );
    const tree = new TreeBuilder();
    const begin = position * BLOCK;
    for (const hash of await readStored(this.#reader, level, begin, begin + BLOCK)) tree.add(hash);
    const holds = tree.size === BLOCK && tree.root() === stored?.hash;
    // Records come in the order of the log: what was far back is not asked for again.
    if (this.#verdicts.size > MAX_VERDICTS) this.#verdicts.clear();
    this.#verdicts.set(key, holds);
    return holds;
  }
}
