import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainJson } from '../../test/support/properties.ts';
import { canonicalize } from './canonical-json.ts';
import { isCanonicalPart, isCanonicalText } from './canonical-text.ts';

/** The reference: parse and canonicalize again. */
function isCanonicalByParsing(text: string): boolean {
  try {
    return canonicalize(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

describe('a canonical text', () => {
  it('accepts every text that canonicalize writes', () => {
    fc.assert(
      fc.property(plainJson(), (value) => {
        expect(isCanonicalText(canonicalize(value))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses every other text', () => {
    const mutation = fc.record({ at: fc.nat(), cut: fc.nat({ max: 2 }), put: fc.constantFrom(...MUTATIONS) });
    fc.assert(
      fc.property(plainJson(), fc.array(mutation, { minLength: 1, maxLength: 3 }), (value, mutations) => {
        let text = canonicalize(value);
        for (const { at, cut, put } of mutations) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + put + text.slice(place + cut);
        }
        expect(isCanonicalText(text), text).toBe(isCanonicalByParsing(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('is the same as a part of a longer text, up to a control character', () => {
    const around = fc.constantFrom('', '\u001e', '"', '"}', ',"', '\\', '{}', '1');
    const mutation = fc.record({ at: fc.nat(), cut: fc.nat({ max: 2 }), put: fc.constantFrom(...MUTATIONS) });
    fc.assert(
      fc.property(plainJson(), fc.option(mutation), around, around, (value, mutated, before, after) => {
        const whole = canonicalize(value);
        const place = (mutated?.at ?? 0) % (whole.length + 1);
        const text = mutated === null ? whole : whole.slice(0, place) + mutated.put + whole.slice(place + mutated.cut);
        fc.pre(text.isWellFormed());
        const longer = `${before}${text}\u001e${after}`;
        const holds = isCanonicalPart(longer, before.length, before.length + text.length);
        expect(holds, text).toBe(isCanonicalByParsing(text));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    '"\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u001f\\"\\\\/\u007f\u2028"',
    '{"":1,"\\n":4,"1":1,"10":2,"2":3,"é":5,"€":6,"😀":7,"\ufb33":8}',
    '[1e-7,0.1,-1,9007199254740991,true,false,null]',
    '[0,100,123456789012345,1234567890123456]',
    `${'['.repeat(64)}${']'.repeat(64)}`,
  ])('can be %s', (text) => {
    expect(isCanonicalText(text)).toBe(true);
    expect(isCanonicalByParsing(text)).toBe(true);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '01',
    '1.0',
    '1E5',
    '-0',
    '1e5',
    '1e400',
    '9007199254740992',
    'nul',
    'undefined',
    'NaN',
    '"\\u0008"',
    '"\\u001F"',
    '"\\/"',
    '"\\u0041"',
    '"\n"',
    '"',
    '"\ud800"',
    '"\\ud800"',
    '{"a":1,}',
    '{"b":1,"a":1}',
    '{"a":1,"a":1}',
    '{"\\n":1,"\\t":1}',
    '{a:1}',
    '[1,]',
    '[1',
    '{}{}',
    `${'['.repeat(65)}${']'.repeat(65)}`,
  ])('cannot be %j', (text) => {
    expect(isCanonicalText(text)).toBe(false);
    expect(isCanonicalByParsing(text)).toBe(false);
  });

  it('is scanned to the end of a string with many escapes, however long', () => {
    for (const count of [499, 500, 501, 1000, 1_000_000]) {
      const escapes = '\\n'.repeat(count);
      for (const [text, expected] of [
        [`"${escapes}"`, true],
        [`{"a":"${escapes}b","c":1}`, true],
        [`"${escapes}\\x"`, false],
        [`"${escapes}`, false],
        [`"${escapes}\\`, false],
      ] as const)
        expect(isCanonicalText(text), `${count} escapes`).toBe(expected);
    }
  });

  it('distinguishes keys that some engines confuse', () => {
    expect(isCanonicalText('{"4294967296":1,"\\\\":2}')).toBe(true);
    expect(isCanonicalText('[{"4294967296":1,"\\\\":2},{"\\n":3}]')).toBe(true);
    expect(isCanonicalText('{"\\\\":1,"\\n":2}')).toBe(false);
  });
});

const MUTATIONS = ['', ' ', '"', '\\', '0', '1', '-', '.', 'e', ',', ':', '{', '}', '[', ']', 'u', '\n', '\ud800', 'a'];
