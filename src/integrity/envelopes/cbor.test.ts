import {
  type Arbitrary,
  array,
  assert,
  constant,
  dictionary,
  integer,
  letrec,
  maxSafeInteger,
  oneof,
  property,
  string,
  uint8Array,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadFormat } from '../bad-format.ts';
import { type Cbor, decodeCbor, encodeCbor } from './cbor.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hexOf = (value: Uint8Array) => Buffer.from(value).toString('hex');

/** The examples of RFC 8949, appendix A, that are in the subset. */
const EXAMPLES: readonly (readonly [value: Cbor, hex: string])[] = [
  [0, '00'],
  [1, '01'],
  [10, '0a'],
  [23, '17'],
  [24, '1818'],
  [25, '1819'],
  [100, '1864'],
  [1000, '1903e8'],
  [1_000_000, '1a000f4240'],
  [1_000_000_000_000, '1b000000e8d4a51000'],
  [-1, '20'],
  [-10, '29'],
  [-100, '3863'],
  [-1000, '3903e7'],
  [null, 'f6'],
  [bytes(''), '40'],
  [bytes('01020304'), '4401020304'],
  ['', '60'],
  ['a', '6161'],
  ['IETF', '6449455446'],
  ['"\\', '62225c'],
  ['\u00fc', '62c3bc'],
  ['\u6c34', '63e6b0b4'],
  ['\ud800\udd51', '64f0908591'],
  [[], '80'],
  [[1, 2, 3], '83010203'],
  [[1, [2, 3], [4, 5]], '8301820203820405'],
  [Array.from({ length: 25 }, (_, index) => index + 1), '98190102030405060708090a0b0c0d0e0f101112131415161718181819'],
  [new Map(), 'a0'],
  [
    new Map([
      [1, 2],
      [3, 4],
    ]),
    'a201020304',
  ],
  // Not in the appendix: the edges of every width, and keys in the order of section 4.2.1.
  [255, '18ff'],
  [256, '190100'],
  [65_535, '19ffff'],
  [65_536, '1a00010000'],
  [4_294_967_295, '1affffffff'],
  [4_294_967_296, '1b0000000100000000'],
  [Number.MAX_SAFE_INTEGER, '1b001fffffffffffff'],
  [Number.MIN_SAFE_INTEGER, '3b001ffffffffffffe'],
  [
    new Map([
      [-1, 0],
      [100, 0],
      [10, 0],
    ]),
    'a30a001864002000',
  ],
];

const REFUSED: readonly (readonly [name: string, hex: string])[] = [
  ['nothing', ''],
  ['a number in too many bytes', '1817'],
  ['a number of two bytes in four', '1a0000ffff'],
  ['a number of four bytes in eight', '1b00000000ffffffff'],
  ['a length in too many bytes', '580100'],
  ['a key in too many bytes', 'a1180100'],
  ['bytes of indefinite length', '5f4100ff'],
  ['text of indefinite length', '7f6161ff'],
  ['a list of indefinite length', '9f00ff'],
  ['a map of indefinite length', 'bf0000ff'],
  ['a break alone', 'ff'],
  ['a reserved length', '1c'],
  ['the same key twice', 'a201000100'],
  ['keys out of order', 'a202000100'],
  ['a text as a key', 'a1616100'],
  ['a list as a key', 'a18000'],
  ['a byte after the end', '0000'],
  ['a cut number', '19ff'],
  ['a cut text', '6261'],
  ['a cut list', '8200'],
  ['a cut map', 'a100'],
  ['a length of four gigabytes', '9affffffff00'],
  ['bytes of four gigabytes', '5affffffff00'],
  ['a tag', 'c100'],
  ['the tag of COSE_Sign1', 'd284'],
  ['false', 'f4'],
  ['true', 'f5'],
  ['undefined', 'f7'],
  ['a simple value', 'e0'],
  ['a simple value in two bytes', 'f820'],
  ['null in two bytes', 'f816'],
  ['a half float', 'f93e00'],
  ['a float', 'fa47c35000'],
  ['a double', 'fb3ff199999999999a'],
  ['a number above 2^53 - 1', '1b0020000000000000'],
  ['the largest number', '1bffffffffffffffff'],
  ['a number below -2^53 + 1', '3b001fffffffffffff'],
  ['text that is not UTF-8', '61ff'],
  ['half of a surrogate pair', '63eda080'],
  ['nine levels', '818181818181818180'],
];

describe('deterministic CBOR (RFC 8949, section 4.2)', () => {
  it.each(EXAMPLES)('encodes and decodes example %#', (value, hex) => {
    expect(hexOf(encodeCbor(value))).toBe(hex);
    expect(decodeCbor(bytes(hex))).toEqual(value);
  });

  it.each(REFUSED)('refuses %s', (_, hex) => {
    expect(() => decodeCbor(bytes(hex))).toThrow(BadFormat);
  });

  it.each([
    ['a fraction', 0.5],
    ['a number above 2^53 - 1', 2 ** 53],
    ['infinity', Number.POSITIVE_INFINITY],
    ['half of a surrogate pair', '\ud800'],
    ['a fraction as a key', new Map([[0.5, null]])],
  ])('does not encode %s', (_, value) => {
    expect(() => encodeCbor(value)).toThrow(RangeError);
  });

  it('decodes what it encodes', () => {
    assert(
      property(values, (value) => {
        expect(decodeCbor(encodeCbor(value))).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it('gives each value one encoding: it accepts no other bytes', () => {
    const mutated = values.chain((value) => {
      const encoded = encodeCbor(value);
      return array(uint8Array({ minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }).chain((patches) =>
        integer({ min: 0, max: encoded.length }).map((at) =>
          Buffer.concat([encoded.subarray(0, at), ...patches, encoded.subarray(at + 1)]),
        ),
      );
    });
    let accepted = 0;
    assert(
      property(oneof(mutated, uint8Array({ maxLength: 40 })), (input) => {
        const value = tryDecode(input);
        if (value === undefined) return;
        accepted += 1;
        expect(hexOf(encodeCbor(value))).toBe(hexOf(input));
      }),
      { numRuns: 5000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });
});

const { value: values } = letrec<{ value: Cbor }>((tie) => ({
  value: oneof(
    { maxDepth: 3 },
    maxSafeInteger() as Arbitrary<Cbor>,
    string({ unit: 'binary' }),
    uint8Array({ maxLength: 30 }).map((part) => Uint8Array.from(part)),
    constant(null),
    array(tie('value'), { maxLength: 4 }),
    dictionary(integer().map(String), tie('value'), { maxKeys: 4 }).map(
      (record) => new Map(Object.entries(record).map(([key, item]) => [Number(key), item])),
    ),
  ),
}));

function tryDecode(input: Uint8Array): Cbor | undefined {
  try {
    return decodeCbor(input);
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
  }
}
