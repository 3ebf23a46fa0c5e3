import * as fc from 'fast-check';
import { inject } from 'vitest';

/** Checks a property on many inputs, the same ones on every run: a failing test keeps failing until it is fixed. */
export function always<Inputs>(property: fc.IProperty<Inputs>, numRuns = 500): void {
  fc.assert(property, { seed: 6962, numRuns });
}

/** Any value that is JSON and stays itself when it is read back. A function, because building it takes a second. */
export function plainJson(): fc.Arbitrary<unknown> {
  // Keys that break careless code, among any others.
  const keys = fc.oneof(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'toJSON',
      'length',
      '0',
      '10',
      '9',
      '',
      '\uffff',
      '\u{10000}',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  // Minus zero is written as zero, so it alone is not read back as it was.
  const numbers = fc
    .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    .filter((value) => (!Number.isInteger(value) || Number.isSafeInteger(value)) && !Object.is(value, -0));
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom(null, true, false),
      numbers,
      fc.string({ unit: 'binary' }),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((members) => Object.fromEntries(members)),
    ),
  })).value;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** How much is tried: a sample, a smaller one on other versions of Node, or all of it. */
    readonly run: 'test' | 'drivers' | 'torture';
  }
}

/**
 * At most `count` of the items, evenly spread; all of them in `npm run torture`. Tests that pass consecutive values of
 * `turn` take different items, so that together they cover all of them.
 */
export function sample<Item>(items: readonly Item[], count: number, turn = 0): readonly Item[] {
  if (inject('run') === 'torture' || items.length <= count) return items;
  const step = items.length / count;
  return rotate(items, turn).filter((_, position) => Math.floor(position % step) === 0);
}

/** The same items, beginning with another one for each `turn`. */
export function rotate<Item>(items: readonly Item[], turn: number): readonly Item[] {
  const start = turn % Math.max(items.length, 1);
  return [...items.slice(start), ...items.slice(0, start)];
}

/**
 * One of so many parts of the items; all of them in `npm run torture`. For items that are tried at several places:
 * consecutive values of `turn` take the other parts.
 */
export function partOf<Item>(items: readonly Item[], turn: number, parts = 2): readonly Item[] {
  return inject('run') === 'torture' ? items : items.filter((_, position) => position % parts === turn % parts);
}

/**
 * One of so many parts of the items on PostgreSQL, where each attempt takes several times as long; all of them on
 * SQLite and in `npm run torture`. For edits that verification finds in the values, whichever engine stores them.
 */
export function partOnPostgres<Item>(items: readonly Item[], turn: number, parts = 6): readonly Item[] {
  return inject('engine') === 'postgres' ? partOf(items, turn, parts) : items;
}

/** A size for `npm test`, the one for its runs on other versions of Node, and the larger one of `npm run torture`. */
export function sizeOf({ test, drivers = test, torture }: Sizes): number {
  return { test, drivers, torture }[inject('run')];
}

interface Sizes {
  readonly test: number;
  readonly drivers?: number;
  readonly torture: number;
}
