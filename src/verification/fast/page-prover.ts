import type { Reader } from '../../db/database.ts';
import type { Hasher } from '../hashing.ts';
import type { LastLinkCache } from '../last-link-cache.ts';
import type { TreeNode } from '../log-tree.ts';
import type { OpenCall, PageProof } from '../page-proof.ts';
import type { Redactions } from '../redactions/finder.ts';
import type { StoredPage } from '../stored-page.ts';
import { proveCalls } from './calls.ts';
import { areNodesStored } from './nodes.ts';
import type { PackedPage } from './packed-entries.ts';
import { proveThoughts, Seals } from './thoughts.ts';

export interface ProverOptions {
  readonly reader: Reader;
  readonly links: LastLinkCache;
  readonly hasher: Hasher;
  readonly openCalls: ReadonlyMap<number, OpenCall>;
}

/** Proves entries from their texts and the texts of the rows, without parsing. Never reports. */
export class PageProver {
  readonly #options: ProverOptions;
  readonly #seals: Seals;

  constructor(options: ProverOptions) {
    this.#options = options;
    this.#seals = new Seals(options.reader);
  }

  async prove(page: PackedPage, redactions: Redactions): Promise<PageProof> {
    const { reader, links, hasher, openCalls } = this.#options;
    const calls = await proveCalls({ reader, hasher, openCalls, redactions }, page);
    const thoughts = await proveThoughts({ reader, hasher, links, seals: this.#seals, redactions }, page);
    const isCall = marks(page, calls?.indexes);
    const isThought = marks(
      page,
      thoughts?.map(({ index }) => index),
    );
    const others = page.texts.filter((_, offset) => isCall[offset] === 0 && isThought[offset] === 0);
    const areAllCalls = calls !== undefined && !others.some((text) => text.includes('"kind":"action.'));
    const areAllThoughts = thoughts !== undefined && !others.some((text) => text.includes('"kind":"thought"'));
    const isProven = areAllCalls ? isCall : marks(page);
    if (areAllThoughts) for (const { index } of thoughts) isProven[index - page.begin] = 1;
    return { isProven, calls: areAllCalls ? calls : undefined, thoughts: areAllThoughts ? thoughts : undefined };
  }

  proveNodes(nodes: readonly TreeNode[]): Promise<boolean> {
    return areNodesStored(this.#options.reader, nodes);
  }
}

/** 1 for each entry of the page that is among these indexes. */
function marks({ begin, texts }: StoredPage, indexes: readonly number[] = []): Uint8Array {
  const isMarked = new Uint8Array(texts.length);
  for (const index of indexes) isMarked[index - begin] = 1;
  return isMarked;
}
