import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { plainJson } from '../../test/support/properties.ts';
import { parseJson, parsePiecewise, shapeOf } from './parse-json.ts';

const raw = String.raw;

/** What an affected engine remembers, and the key that it then takes for the one it remembers. */
const CONFUSIONS: readonly (readonly [first: string, second: string, key: string])[] = [
  [raw`{"\\":1,"1":2}`, raw`{"\n":1}`, '\n'],
  [raw`{"\\":1,"4294967294":2}`, raw`{"\r":1}`, '\r'],
  [raw`{"h":[],"\\":0}`, raw`{"h":1,"\"":2}`, '"'],
  [raw`{"i":0,"k\\":0}`, raw`{"i":1,"k\n":2}`, 'k\n'],
  [raw`{"j":0,"k\\u":0}`, raw`{"j":1,"k\u0041b":2}`, 'kAb'],
  [raw`{"l":{"m":0,"\\":0}}`, raw`{"l":{"m":0,"\t":0}}`, '\t'],
  [raw`{"n":0,"\\\\":0}`, raw`{"n":0,"\\n":0}`, raw`\n`],
];

describe('JSON from outside', () => {
  promiseTest('integrity/keys', 'also where the engine confuses escaped ones', () => {
    for (const [first, second, key] of CONFUSIONS) {
      parseJson(first);
      JSON.parse(first);
      expect(keysIn(parseJson(second))).toContain(key);
    }
  });

  promiseTest('integrity/keys', 'any value, however it is written', () => {
    fc.assert(
      fc.property(plainJson(), fc.infiniteStream(fc.nat()), (value, choices) => {
        const text = writeOddly(value, choices);
        expect(parsePiecewise(text)).toEqual(value);
        expect(parseJson(text)).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  promiseTest('integrity/keys', 'text is refused exactly when the engine refuses it', () => {
    const texts = fc.oneof(
      fc.string({
        unit: fc.constantFrom(...raw`{}[]:,"\nu0aE-+.1e tfrulsn`.split(''), '\n', '\t', '\u00a0', '\u0000'),
      }),
      fc
        .tuple(plainJson(), fc.nat(), fc.constantFrom('', ',', '"', '\\', ':', '}', ']', '0', '\u0001', '\u2028'))
        .map(([value, place, edit]) => {
          const text = JSON.stringify(value);
          const at = place % (text.length + 1);
          return text.slice(0, at) + edit + text.slice(at + (place % 2));
        }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(isAccepted(parsePiecewise, text)).toBe(isAccepted(JSON.parse, text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    '',
    ' ',
    '{',
    '[',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '[1,]',
    '[,1]',
    '{"a":1 "b":2}',
    '[1 2]',
    '{"a":1]',
    '[1}',
    '{a:1}',
    "{'a':1}",
    '{"a":1}}',
    '{"a":1} x',
    '[]]',
    '{"a\n":1}',
    raw`{"\x":1}`,
    raw`{"\u12":1}`,
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":NaN}',
    '{"a":"b}',
    raw`{"a\":1}`,
    '\ufeff{}',
    '{1:2}',
    '{null:1}',
    '// x\n{}',
  ])('refuses %j', (text) => {
    expect(() => parsePiecewise(text)).toThrow(SyntaxError);
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('keeps a member that is called __proto__, and the last of two with one name', () => {
    const parsed = parsePiecewise(raw`{"__proto__":{"a":1},"b":1,"\u0062":2}`) as object;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.entries(parsed)).toEqual([
      ['__proto__', { a: 1 }],
      ['b', 2],
    ]);
  });

  it('does not exhaust the stack at any depth', () => {
    const depth = 100_000;
    let value = parseJson(`${'{"\\n":['.repeat(depth)}0${']}'.repeat(depth)}`);
    let count = 0;
    while (typeof value === 'object') {
      value = (value as Record<string, unknown[]>)['\n']?.[0];
      count += 1;
    }
    expect([count, value]).toEqual([depth, 0]);
  });
});

function keysIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysIn(inner)]);
}

function isAccepted(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return false;
  }
}

describe('objects of one shape', () => {
  it('have the given keys in their order, whatever their names', () => {
    const names = [
      'b',
      'a',
      '"',
      raw`\u0061`,
      '__proto__',
      ...Array.from('abcdefghijkl', (letter) => `column_${letter}`),
    ];
    const create = shapeOf(names);
    const [one, other] = [create(), create()];
    one['b'] = 1;
    expect(Object.keys(one)).toEqual(names);
    expect(Object.values(other)).toEqual(names.map(() => null));
    expect(Object.getPrototypeOf(other)).toBe(Object.prototype);
  });
});

/** With blanks between tokens, and characters of strings as escapes, as the choices say. */
function writeOddly(value: unknown, choices: Iterator<number>): string {
  const choose = <Option>(options: readonly Option[]) =>
    options[(choices.next().value as number) % options.length] as Option;
  const blank = () => choose(['', '', ' ', '\n\t', '\r ']);
  const string = (text: string) =>
    `"${text
      .split('')
      .map((unit) => (choose([false, true]) ? escapeUnit(unit) : JSON.stringify(unit).slice(1, -1)))
      .join('')}"`;
  const write = (item: unknown): string => {
    if (typeof item === 'string') return string(item);
    if (Array.isArray(item)) return `[${blank()}${item.map(write).join(`${blank()},`)}${blank()}]`;
    if (typeof item !== 'object' || item === null) return JSON.stringify(item);
    const members = Object.entries(item).map(([key, inner]) => `${blank()}${string(key)}${blank()}:${write(inner)}`);
    return `{${members.join(`${blank()},`)}${blank()}}`;
  };
  return `${blank()}${write(value)}${blank()}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
