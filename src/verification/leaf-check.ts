import type { Reader } from '../db/database.ts';
import { foldLeaves, isDigest } from '../integrity/index.ts';
import { readSize } from '../ledger/head.ts';
import { BLOCK, LEVELS_PER_BLOCK, readStored } from '../ledger/stored-tree.ts';

const MAX_VERDICTS = 4096;

/** Compares entries with the stored nodes above them. Entries of one block share the work. */
export class LeafCheck {
  readonly #reader: Reader;
  readonly #verdicts = new Map<string, boolean>();
  #size: number | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** False if the entry is outside the log, or a node above it is missing or does not match its children. */
  async holds(index: number): Promise<boolean> {
    return (await this.isInLog(index)) && this.holdsFrom(0, Math.floor(index / BLOCK));
  }

  async isInLog(index: number): Promise<boolean> {
    return Number.isSafeInteger(index) && index >= 0 && index < (await this.readSize());
  }

  async readSize(): Promise<number> {
    this.#size ??= await readSize(this.#reader);
    return this.#size;
  }

  /** True if a block of nodes, and all blocks above it, match the node that is stored over them. */
  async holdsFrom(level: number, position: number): Promise<boolean> {
    // A node is stored when its subtree is full; above the last full one there is nothing to compare with.
    const size = await this.readSize();
    if ((position + 1) * BLOCK * 2 ** level > size) return true;
    if (!(await this.#block(level, position))) return false;
    return this.holdsFrom(level + LEVELS_PER_BLOCK, Math.floor(position / BLOCK));
  }

  async #block(level: number, position: number): Promise<boolean> {
    const key = `${level}/${position}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const [stored] = await this.#reader.query<{ hash: string }>(
      'SELECT hash FROM ledger_nodes WHERE level = $1 AND idx = $2',
      [level + LEVELS_PER_BLOCK, position],
    );
    const begin = position * BLOCK;
    const hashes = await readStored(this.#reader, level, begin, begin + BLOCK);
    const isTrue = hashes.length === BLOCK && hashes.every(isDigest) && foldLeaves(hashes) === stored?.hash;
    // Records come in log order, so old verdicts are not needed again.
    if (this.#verdicts.size > MAX_VERDICTS) this.#verdicts.clear();
    this.#verdicts.set(key, isTrue);
    return isTrue;
  }
}
