import { seededRandom } from '../test/support/random.ts';

/** Choices that follow from a seed. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  isOneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** An independent sequence, for a branch whose length must not shift the choices of another. */
  fork(): Random {
    return new Random(this.below(2 ** 32));
  }
}
