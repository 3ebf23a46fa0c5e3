import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by `npm run torture`. */
    readonly isTorture: boolean;
  }
}

/**
 * At most `count` of the items, evenly spread; all of them in `npm run torture`. Tests that pass consecutive values of
 * `turn` take different items, so that together they cover all of them.
 */
export function sample<Item>(items: readonly Item[], count: number, turn = 0): readonly Item[] {
  if (inject('isTorture') || items.length <= count) return items;
  const step = items.length / count;
  return rotate(items, turn).filter((_, position) => Math.floor(position % step) === 0);
}

/** The same items, beginning with another one for each `turn`. */
export function rotate<Item>(items: readonly Item[], turn: number): readonly Item[] {
  const start = turn % Math.max(items.length, 1);
  return [...items.slice(start), ...items.slice(0, start)];
}

/** A size for `npm test`, and the larger one that `npm run torture` uses. */
export function sizeOf({ test, torture }: { readonly test: number; readonly torture: number }): number {
  return inject('isTorture') ? torture : test;
}
