import { runInThisContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { always } from '../../test/support/properties.ts';
import { canonicalize, NotCanonical } from './index.ts';

/** The samples of RFC 8785 appendix B that this dialect refuses: not finite, or integers that may have been rounded. */
const REFUSED_NUMBERS = [
  '7fefffffffffffff',
  'ffefffffffffffff',
  '4340000000000000',
  'c340000000000000',
  '4430000000000000',
  '7fffffffffffffff',
  '7ff0000000000000',
  'fff0000000000000',
  '44b52d02c7e14af5',
  '44b52d02c7e14af6',
  '44b52d02c7e14af7',
  '444b1ae4d6e2ef4e',
  '444b1ae4d6e2ef4f',
  '444b1ae4d6e2ef50',
] as const;

class Money {
  readonly amount = 1;
}

class List extends Array<number> {}

/** The exotic object that old functions find their parameters in. */
function argumentsOf(value: unknown): unknown {
  return (runInThisContext('(function () { return arguments; })') as (value: unknown) => unknown)(value);
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const ring: unknown[] = [];
ring.push(ring, ring);

/** Each of these has a JSON text by JSON.stringify, or loses a part of itself on the way to one. */
const EXOTIC: Readonly<Record<string, unknown>> = {
  undefined,
  'a function': () => 1,
  'a symbol': Symbol('s'),
  'a bigint': 1n,
  'a date': new Date(0),
  'a map': new Map([['a', 1]]),
  'a set': new Set([1]),
  'a regular expression': /a/,
  'an error': new Error('e'),
  'a promise': Promise.resolve(1),
  'an instance of a class': new Money(),
  bytes: new Uint8Array([1]),
  'a buffer': Buffer.from('a'),
  'a boxed string': Object('a'),
  'a boxed number': Object(1),
  'a boxed boolean': Object(true),
  'an object with a prototype of its own': Object.create({ a: 1 }),
  'an object with a toJSON method': { toJSON: () => 1 },
  'an object with a hidden toJSON method': Object.defineProperty({ a: 1 }, 'toJSON', { value: () => 1 }),
  'an object that inherits a toJSON method': Object.create({ toJSON: () => 1 }),
  'a list with a toJSON method': Object.assign([1], { toJSON: () => 1 }),
  'a list with a named member': Object.assign([1], { name: 1 }),
  'a match of a regular expression': /a/.exec('a'),
  'a list of a class of its own': List.of(1, 2),
  'a list with a hole': Object.assign([], { 0: 1, 2: 3 }),
  'a list that is all holes': Array.from<undefined>({ length: 3 }).fill(undefined).slice(0, 0).concat(Array(3)),
  'a list that ends in undefined': [1, undefined],
  'an object with an undefined member': { a: undefined },
  'an object with a symbol for a key': { a: 1, [Symbol('s')]: 2 },
  'the arguments of a function': argumentsOf(1),
  'a namespace object': Math,
  'an object that contains itself': cycle,
  'a list that contains itself twice': ring,
};

describe('canonical JSON', () => {
  for (const [name, value] of Object.entries(EXOTIC)) {
    promiseTest('integrity/faithful', name, () => {
      expect(() => canonicalize(value)).toThrow(NotCanonical);
      expect(() => canonicalize({ a: [value] })).toThrow(NotCanonical);
    });
  }

  promiseTest('integrity/faithful', 'numbers of RFC 8785 appendix B that are not finite or not safe', () => {
    for (const bits of REFUSED_NUMBERS) {
      const value = Buffer.from(bits, 'hex').readDoubleBE();
      expect(() => canonicalize(value)).toThrow(NotCanonical);
      expect(() => canonicalize([value])).toThrow(NotCanonical);
    }
  });

  promiseTest('integrity/faithful', 'exactly the strings with half of a surrogate pair, as value and as key', () => {
    const units = fc.array(fc.oneof(fc.integer({ min: 0xd7fe, max: 0xe001 }), fc.nat(0xffff)), { maxLength: 5 });
    always(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        const isWhole = !/\p{Surrogate}/u.test(text);
        for (const value of [text, [text], { [text]: 1 }]) {
          if (isWhole) expect(JSON.parse(canonicalize(value))).toEqual(value);
          else expect(() => canonicalize(value)).toThrow(NotCanonical);
        }
      }),
      2_000,
    );
  });

  promiseTest('integrity/faithful', 'more than 64 levels, without exhausting the stack at any depth', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nest = (levels: number): unknown => JSON.parse(`${open.repeat(levels)}0${close.repeat(levels)}`);
      expect(JSON.parse(canonicalize(nest(64)))).toEqual(nest(64));
      expect(() => canonicalize(nest(65))).toThrow(NotCanonical);
    }
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(() => canonicalize(deep)).toThrow('nested deeper than 64 levels');
    expect(() => canonicalize({ a: { b: deep } })).toThrow('a.b.0: nested deeper');
  });

  it('names the path of the refused value', () => {
    const refusal = caught({ list: [1, { 'a key': Number.NaN }] });
    expect(refusal.path).toEqual(['list', 1, 'a key']);
    expect(refusal.reason).toBe('is not a finite number');
    expect(refusal.message).toBe('list.1.a key: is not a finite number');
    expect(caught(undefined).message).toBe('the value: undefined is not JSON');
  });

  it('writes a message that can itself be recorded', () => {
    const refusal = caught({ 'a\ud800': 1 });
    expect(canonicalize({ message: refusal.message, path: [...refusal.path] })).toContain('a\ufffd');
  });

  it('names only the path of the refused value', () => {
    expect(caught([{ a: [1, 2] }, { b: { c: 1 } }, { d: 1n }]).path).toEqual([2, 'd']);
  });
});

function caught(value: unknown): NotCanonical {
  try {
    canonicalize(value);
  } catch (error) {
    if (error instanceof NotCanonical) return error;
    throw error;
  }
  throw new Error('was not refused');
}
