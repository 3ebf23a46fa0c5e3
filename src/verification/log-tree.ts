import { type Digest, leafHashInPlace, TreeBuilder } from '../integrity/index.ts';
import { LEVELS_PER_BLOCK } from '../ledger/stored-tree.ts';
import { Tail } from '../ledger/tail.ts';
import { hexOfLatin1 } from './latin1-text.ts';

/** Entries in UTF-8, each after one spare byte for the prefix of its leaf hash. */
export interface EntryBytes {
  readonly bytes: Uint8Array;
  /** The offset where each entry ends and the next begins. */
  readonly ends: Uint32Array;
}

export interface TreeNode {
  readonly level: number;
  readonly index: number;
  readonly hash: Digest;
}

export interface GrownTree {
  readonly root: Digest;
  readonly tail: string;
}

/** Computes the tree over a log, some entries at a time. The tail needs the final size of the log. */
export class LogTree {
  readonly #tree = new TreeBuilder();
  readonly #tail: Tail | undefined;

  constructor(size?: number) {
    this.#tail = size === undefined ? undefined : new Tail(size);
  }

  /** Returns the completed nodes of the levels that are stored. */
  add({ bytes, ends }: EntryBytes): TreeNode[] {
    const nodes: TreeNode[] = [];
    const onSubtree = (level: number, index: number, hash: string) => {
      if (level % LEVELS_PER_BLOCK === 0) nodes.push({ level, index, hash: hexOfLatin1(hash) });
    };
    let begin = 0;
    for (const end of ends) {
      const leaf = leafHashInPlace(bytes, begin, end);
      this.#tree.addRaw(leaf, onSubtree);
      this.#tail?.add(leaf);
      begin = end;
    }
    return nodes;
  }

  finish(): GrownTree {
    return { root: this.#tree.root(), tail: this.#tail?.value ?? '' };
  }
}
