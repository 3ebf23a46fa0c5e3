import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { always } from '../../test/support/properties.ts';
import {
  type DigestLabel,
  type Entry,
  encodeEntry,
  parseEntry,
  saltedDigest,
  storedDigest,
  storedDigestInPlace,
} from './index.ts';

const ENTRY: Entry = {
  v: 1,
  kind: 'action.exit',
  at: '2026-11-15T10:00:00.000Z',
  actor: 'agent \u20ac "one"',
  sequence_no: 7,
  duration_ms: 1.5,
};
const TEXT = String.raw`{"actor":"agent ${'\u20ac'} \"one\"","at":"2026-11-15T10:00:00.000Z","duration_ms":1.5,"kind":"action.exit","sequence_no":7,"v":1}`;

/** Other JSON texts of the same value, and texts that are nearly one. */
const MISSPELLED: Readonly<Record<string, string>> = {
  'a space': TEXT.replace(',', ', '),
  'a space before': ` ${TEXT}`,
  'a line feed after': `${TEXT}\n`,
  'a byte after': `${TEXT}0`,
  'a second entry after': TEXT + TEXT,
  'a byte order mark': `\ufeff${TEXT}`,
  'another order of keys': `{"v":1,${TEXT.slice(1).replace(',"v":1', '')}`,
  'an escaped letter': TEXT.replace('agent', String.raw`\u0061gent`),
  'an escaped sign': TEXT.replace('\u20ac', String.raw`\u20ac`),
  'an escaped letter in a key': TEXT.replace('"kind"', String.raw`"k\u0069nd"`),
  'an escaped slash': TEXT.replace('agent', String.raw`agent\/`),
  'a long escape for a short one': TEXT.replace(String.raw`\"`, String.raw`\u0022`),
  'a duplicate key': TEXT.replace('"v":1', '"v":1,"v":1'),
  'a duplicate key with another value': TEXT.replace('"v":1', '"v":2,"v":1'),
  'a fraction of zero': TEXT.replace('"v":1', '"v":1.0'),
  'an exponent': TEXT.replace('"v":1', '"v":1e0'),
  'a trailing zero': TEXT.replace('1.5', '1.50'),
  'minus zero': TEXT.replace('"sequence_no":7', '"sequence_no":-0'),
  'an integer that is rounded': TEXT.replace('"sequence_no":7', '"sequence_no":9007199254740993'),
  'half of a surrogate pair, raw': TEXT.replace('\u20ac', '\ud800'),
  'half of a surrogate pair, escaped': TEXT.replace('\u20ac', String.raw`\ud800`),
  'a trailing comma': TEXT.replace('"v":1}', '"v":1,}'),
  'half of it': TEXT.slice(0, 40),
  nothing: '',
};

const NO_ENTRIES: Readonly<Record<string, string>> = {
  'another version': TEXT.replace('"v":1', '"v":2'),
  'a version as text': TEXT.replace('"v":1', '"v":"1"'),
  'no version': TEXT.replace(',"v":1', ''),
  'no kind': TEXT.replace('"kind":"action.exit",', ''),
  'a kind that is not text': TEXT.replace('"action.exit"', '5'),
  'no time': TEXT.replace('"at":"2026-11-15T10:00:00.000Z",', ''),
  'an actor that is not text': TEXT.replace(/"actor":"(?:[^"\\]|\\.)*"/, '"actor":null'),
  'fields only in __proto__': `{"__proto__":${TEXT}}`,
  'a list': `[${TEXT}]`,
  null: 'null',
  'a number': '1',
  'a text': '"v"',
  'a deep list': '['.repeat(100_000) + ']'.repeat(100_000),
};

describe('an entry', () => {
  promiseTest('integrity/strict-entry', 'the canonical text is read back', () => {
    expect(encodeEntry(ENTRY)).toBe(TEXT);
    expect(parseEntry(TEXT)).toEqual(ENTRY);
  });

  for (const [name, text] of Object.entries({ ...MISSPELLED, ...NO_ENTRIES })) {
    promiseTest('integrity/strict-entry', `not with ${name}`, () => {
      expect(text).not.toBe(TEXT);
      expect(parseEntry(text)).toBeUndefined();
    });
  }

  promiseTest('integrity/strict-entry', 'an edit is refused or is the canonical text of another entry', () => {
    const edits = fc.tuple(
      fc.nat(TEXT.length),
      fc.nat(2),
      fc.oneof(fc.constantFrom('', ' ', '0', '.0', ',', '"', '\\', '\n', '{}'), fc.string({ unit: 'binary' })),
    );
    always(
      fc.property(edits, ([place, removed, added]) => {
        const text = TEXT.slice(0, place) + added + TEXT.slice(place + removed);
        const entry = parseEntry(text);
        if (entry !== undefined) expect(encodeEntry(entry)).toBe(text);
      }),
      5_000,
    );
  });
});

const SALT = '000102030405060708090a0b0c0d0eff';

/** The bytes that the format names, put together by other means. */
function expectedDigest(label: string, salt: string, text: string): string {
  const head = Buffer.from(`colibri:${label}:v1\n`, 'ascii');
  return createHash('sha256')
    .update(Buffer.concat([head, Buffer.from(salt, 'hex'), Buffer.from(text, 'utf8')]))
    .digest('hex');
}

describe('a salted digest', () => {
  promiseTest('integrity/salted-digest', 'over exactly the bytes that the format names', () => {
    const salts = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('hex'));
    const labels = fc.constantFrom<DigestLabel>('arguments', 'answer');
    always(
      fc.property(labels, salts, fc.string({ unit: 'binary' }), (label, salt, text) => {
        expect(saltedDigest(label, salt, text)).toBe(expectedDigest(label, salt, text));
      }),
    );
    expect(saltedDigest('arguments', SALT, '{}')).toBe(expectedDigest('arguments', SALT, '{}'));
  });

  promiseTest('integrity/salted-digest', 'another label, salt or text gives another digest', () => {
    const digests = [
      saltedDigest('arguments', SALT, ''),
      saltedDigest('answer', SALT, ''),
      saltedDigest('arguments', SALT.replace('ff', 'fe'), ''),
      saltedDigest('arguments', SALT, '\u0000'),
      saltedDigest('arguments', SALT, ' '),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('is the same in place, between other rows', () => {
    const bytes = (text: string) => Buffer.from(text);
    for (const text of ['{}', '{"bird":"\u{1f426}"}', 'x'.repeat(5000)])
      for (const salt of [SALT, SALT.toUpperCase(), `${SALT.slice(1)}g`]) {
        const before = `${'.'.repeat(40)}${salt}\u001e`;
        const row = bytes(`${before}${text}...`);
        const latin1 = row.toString('latin1');
        const begin = before.length;
        const range = { saltAt: 40, begin, end: begin + bytes(text).length };
        expect(storedDigestInPlace('task', row, latin1, range)).toBe(storedDigest('task', salt, text));
      }
  });

  it('in place needs room before the text', () => {
    const row = Buffer.from(`${SALT}{}`);
    expect(storedDigestInPlace('task', row, row.toString(), { saltAt: 0, begin: 31, end: 33 })).toBeUndefined();
  });

  it('refuses a salt that is not 16 bytes of lower-case hexadecimal', () => {
    const wrong = [
      '',
      '00',
      SALT.slice(1),
      `${SALT}0`,
      `${SALT}00`,
      SALT.toUpperCase(),
      `${SALT.slice(1)}g`,
      `${SALT}\n`,
    ];
    for (const salt of wrong) expect(() => saltedDigest('answer', salt, '{}')).toThrow(RangeError);
  });

  it('refuses a text that UTF-8 cannot hold, which would share its digest with another', () => {
    expect(() => saltedDigest('answer', SALT, 'a\ud800')).toThrow(RangeError);
  });
});
