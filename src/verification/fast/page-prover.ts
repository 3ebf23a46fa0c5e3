import type { Reader } from '../../db/database.ts';
import type { Hasher } from '../hashing.ts';
import type { LastLinkCache } from '../last-link-cache.ts';
import type { OpenCall, PageProof } from '../page-proof.ts';
import type { StoredPage } from '../stored-page.ts';
import { proveCalls } from './calls.ts';
import type { PackedPage } from './packed-entries.ts';
import { proveThoughts } from './thoughts.ts';

export interface ProverOptions {
  readonly reader: Reader;
  readonly links: LastLinkCache;
  readonly hasher: Hasher;
  readonly openCalls: ReadonlyMap<number, OpenCall>;
}

/** Proves entries from their texts and the texts of the rows, without parsing. Never reports. */
export class PageProver {
  readonly #options: ProverOptions;

  constructor(options: ProverOptions) {
    this.#options = options;
  }

  async prove(page: PackedPage): Promise<PageProof> {
    const { reader, links, hasher, openCalls } = this.#options;
    const calls = await proveCalls(reader, openCalls, page, hasher);
    const thoughts = await proveThoughts(reader, links, page, hasher);
    const areAllCalls = calls && isEveryOne(page, calls.indexes, '"kind":"action.');
    const indexes = thoughts?.map(({ index }) => index) ?? [];
    const areAllThoughts = thoughts && isEveryOne(page, indexes, '"kind":"thought"');
    const isProven = new Uint8Array(page.texts.length);
    if (areAllCalls) for (const index of calls.indexes) isProven[index - page.begin] = 1;
    if (areAllThoughts) for (const index of indexes) isProven[index - page.begin] = 1;
    return { isProven, calls: areAllCalls ? calls : undefined, thoughts: areAllThoughts ? thoughts : undefined };
  }
}

/** The text of a canonical entry contains its kind literally. */
function isEveryOne({ begin, texts }: StoredPage, indexes: readonly number[], kind: string): boolean {
  const isIncluded = new Uint8Array(texts.length);
  for (const index of indexes) isIncluded[index - begin] = 1;
  return texts.every((text, offset) => isIncluded[offset] === 1 || !text.includes(kind));
}
