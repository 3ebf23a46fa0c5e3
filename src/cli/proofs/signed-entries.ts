import { BadFormat, type Digest, subsetRoot, TreeBuilder } from '../../integrity/index.ts';
import { CommandError } from '../support/command-result.ts';

/** Entries that do not give the root that was signed: a proof of them would not hold. */
export function notAsSigned(which: string): CommandError {
  return new CommandError('tampered', `${which} not what was signed: the ledger was changed after it was written`, {
    advice: 'run colibri verify to see where',
  });
}

/** The root over entries as they are streamed: all of a log, in memory that does not grow with it. */
export class WholeFold {
  readonly #tree = new TreeBuilder();

  get count(): number {
    return this.#tree.size;
  }

  addLeaf(leaf: Digest): void {
    this.#tree.add(leaf);
  }

  /** A whole log needs no hash besides its leaves. */
  addHash(hash: Digest): void {
    throw new Error(`a bundle of a whole log has the hash ${hash}`);
  }

  root(): Digest {
    return this.#tree.root();
  }
}

/** The same over some entries of a log and the hashes of the rest. */
export class SubsetFold {
  readonly #indexes: readonly number[];
  readonly #size: number;
  readonly #leaves: Digest[] = [];
  readonly #hashes: Digest[] = [];

  constructor(indexes: readonly number[], size: number) {
    this.#indexes = indexes;
    this.#size = size;
  }

  get count(): number {
    return this.#leaves.length;
  }

  addLeaf(leaf: Digest): void {
    this.#leaves.push(leaf);
  }

  addHash(hash: Digest): void {
    this.#hashes.push(hash);
  }

  /** Undefined if a stored hash is not well-formed. */
  root(): Digest | undefined {
    try {
      return subsetRoot({ indexes: this.#indexes, leaves: this.#leaves, size: this.#size }, this.#hashes);
    } catch (error) {
      if (error instanceof BadFormat) return undefined;
      throw error;
    }
  }
}
