import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { always, plainJson } from '../../test/support/properties.ts';
import { naiveCanonicalize } from '../../test/vectors/naive.ts';
import { canonicalize } from './index.ts';

/** The samples of RFC 8785 appendix B that are safe integers or fractions: bits of the number, and its text. */
const NUMBERS = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
  ['433fffffffffffff', '9007199254740991'],
] as const;

describe('canonical JSON', () => {
  promiseTest('integrity/one-text', 'the numbers of RFC 8785 appendix B', () => {
    for (const [bits, text] of NUMBERS) {
      expect(canonicalize(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text);
    }
  });

  promiseTest('integrity/one-text', 'any value has the text that the reference writes', () => {
    always(
      fc.property(plainJson(), (value) => {
        expect(canonicalize(value)).toBe(naiveCanonicalize(value));
      }),
      1_000,
    );
  });

  promiseTest('integrity/one-text', 'any string of code units that is whole', () => {
    const units = fc.array(fc.oneof(fc.nat(0x80), fc.nat(0xffff)), { maxLength: 8 });
    always(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes).toWellFormed();
        expect(canonicalize(text)).toBe(naiveCanonicalize(text));
      }),
      2_000,
    );
  });

  it('writes each of the first 65,536 characters as the reference does', () => {
    for (let code = 0; code <= 0xffff; code += 1) {
      const text = String.fromCharCode(code);
      if (text.isWellFormed() && canonicalize(text) !== naiveCanonicalize(text)) expect.fail(`character ${code}`);
    }
  });

  promiseTest('integrity/one-text', 'reading it back gives the value, and writing that gives the text', () => {
    always(
      fc.property(plainJson(), (value) => {
        const text = canonicalize(value);
        const read: unknown = JSON.parse(text);
        expect(isDeepStrictEqual(read, value)).toBe(true);
        expect(canonicalize(read)).toBe(text);
      }),
    );
  });

  promiseTest('integrity/one-text', 'the order in which keys were written does not matter', () => {
    const members = fc.uniqueArray(fc.tuple(fc.string({ unit: 'binary' }), plainJson()), { selector: ([key]) => key });
    const shuffled = members.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    always(
      fc.property(shuffled, ([one, other]) => {
        expect(canonicalize(Object.fromEntries(other))).toBe(canonicalize(Object.fromEntries(one)));
      }),
    );
  });

  promiseTest('integrity/one-text', 'different values have different texts', () => {
    const values = [
      null,
      0,
      '',
      '0',
      [],
      {},
      [[]],
      [{}],
      { '': null },
      ['', ''],
      ['","'],
      'null',
      false,
      [0],
      { 0: 0 },
    ];
    expect(new Set(values.map(canonicalize)).size).toBe(values.length);
  });

  it('takes an object without a prototype as a plain one', () => {
    const bare = Object.assign(Object.create(null) as object, { b: 1, a: [true] });
    expect(canonicalize(bare)).toBe('{"a":[true],"b":1}');
  });

  it('writes a __proto__ member as any other, and does not follow it', () => {
    const text = '{"__proto__":{"a":2,"toJSON":null},"b":1}';
    const value: unknown = JSON.parse(text);
    expect(canonicalize(value)).toBe(text);
    expect(canonicalize(JSON.parse('{"b":{"__proto__":[]}}'))).toBe('{"b":{"__proto__":[]}}');
  });

  it('does not change what it writes', () => {
    const value = Object.freeze({ b: Object.freeze([2, 1]), a: 1 });
    canonicalize(value);
    expect(Object.keys(value)).toEqual(['b', 'a']);
  });
});
