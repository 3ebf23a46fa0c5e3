import { describe, expect, it } from 'vitest';
import { toEntryBytes } from '../../../test/support/ledger.ts';
import { naiveLeaf, naiveRoot } from '../../../test/vectors/naive.ts';
import { saltedDigest, sha256 } from '../../integrity/index.ts';
import { toLatin1 } from '../latin1-text.ts';
import { type DeferredDigests, match } from './deferred-digest.ts';

const SALTS = ['00112233445566778899aabbccddeeff', 'ffeeddccbbaa99887766554433221100'] as const;
const TEXTS = ['{"branch":"keep-the-parser-strict"}', '{"metadata":{"bird":"\u{1f426}","line":"\u2028"}}'] as const;

const digestOf = (row: 0 | 1) => saltedDigest('extras', SALTS[row], TEXTS[row]);
const HONEST = [SALTS[0], TEXTS[0], SALTS[1], TEXTS[1]] as const;

const join = (...digests: readonly string[]) => digests.join('\u001e');

function defer(parts: readonly (string | Buffer)[], expected = join(digestOf(0), digestOf(1))): DeferredDigests {
  const bytes = parts.flatMap((part, place) => [...(place === 0 ? [] : [Buffer.from('\u001e')]), Buffer.from(part)]);
  return { label: 'extras', bytes: Buffer.concat(bytes), expected };
}

const KEYED = join(`7:${digestOf(0)}`, `18:${digestOf(1)}`);

describe('contents and their digests', () => {
  it('match', () => {
    expect(match(defer(HONEST))).toBe(true);
    expect(match(defer(HONEST.slice(0, 2), digestOf(0)))).toBe(true);
    expect(match({ label: 'extras', bytes: Buffer.of(), expected: '' })).toBe(true);
  });

  it('match in a page that is longer than its first row', () => {
    const rows = Array.from({ length: 300 }, (_, row) => ({
      key: String(row * 7),
      salt: row.toString(16).padStart(32, '0'),
      text: JSON.stringify({ branch: row % 3 === 0 ? `b\u00e9${row}` : `b"${row}` }),
    }));
    const digests = (changed = -1) =>
      rows.map(({ key, salt, text }, row) => `${key}:${saltedDigest('extras', salt, row === changed ? '{}' : text)}`);
    const parts = rows.flatMap(({ key, salt, text }) => [`${key}:${salt}`, text]);
    expect(match(defer(parts, join(...digests())))).toBe(true);
    for (const row of rows.keys()) expect(match(defer(parts, join(...digests(row))))).toBe(false);
  });

  it('match with keys', () => {
    expect(match(defer([`7:${SALTS[0]}`, TEXTS[0], `18:${SALTS[1]}`, TEXTS[1]], KEYED))).toBe(true);
  });

  const [salt, text, otherSalt, otherText] = HONEST;
  const unordered = '{"commit_sha":"0123456","branch":"main"}';
  const wrong: Readonly<Record<string, DeferredDigests>> = {
    'a text that is not canonical': defer([salt, unordered], saltedDigest('extras', salt, unordered)),
    'a text with an unknown field': defer([salt, '{"mood":1}'], saltedDigest('extras', salt, '{"mood":1}')),
    'another text': defer([salt, text, otherSalt, '{}']),
    'another salt': defer([otherSalt, text, otherSalt, otherText]),
    'the rows in another order': defer([otherSalt, otherText, salt, text]),
    'the digests in another order': defer(HONEST, join(digestOf(1), digestOf(0))),
    'the digest of another label': defer(HONEST.slice(0, 2), saltedDigest('arguments', salt, text)),
    'a row without a digest': defer(HONEST, digestOf(0)),
    'a digest without a row': defer(HONEST.slice(0, 2)),
    'digests and no row': defer([]),
    'rows and no digest': defer(HONEST, ''),
    'half of a digest': defer(HONEST, join(digestOf(0), digestOf(1).slice(0, 32))),
    'digests in upper case': defer(HONEST, join(digestOf(0), digestOf(1)).toUpperCase()),
    'a salt that includes the first character of the text': defer([`${salt}{`, text.slice(1), otherSalt, otherText]),
    'a text that includes the last digit of its salt': defer([salt.slice(0, -1), `f${text}`, otherSalt, otherText]),
    'a salt in upper case': defer([salt.toUpperCase(), text, otherSalt, otherText]),
    'a separator in a text': defer([salt, `${text}\u001e`, otherSalt, otherText]),
    'two texts merged into one': defer([salt, text + otherSalt, otherText]),
    'no keys where keys are expected': defer(HONEST, KEYED),
    'keys where none are expected': defer([`7:${salt}`, text, `18:${otherSalt}`, otherText]),
    'the keys swapped': defer([`18:${salt}`, text, `7:${otherSalt}`, otherText], KEYED),
    'a key that continues in a longer salt': defer([`7:${salt}`, text, `1:8:${otherSalt}`, otherText], KEYED),
    'a key without its end': defer([`7${salt}`, text, `18${otherSalt}`, otherText], KEYED),
    'two digests without a separator': defer(HONEST, digestOf(0) + digestOf(1)),
    'bytes that are not UTF-8': defer([salt, text, otherSalt, Buffer.of(0xff, 0xfe)]),
    'half of a surrogate pair': defer([salt, text, otherSalt, Buffer.of(0xed, 0xa0, 0xbd)]),
  };
  for (const [name, deferred] of Object.entries(wrong))
    it(`reports a mismatch with ${name}`, () => {
      expect(match(deferred)).toBe(false);
    });
});

describe('arguments and their digests', () => {
  const argumentsOf = (...texts: readonly string[]): DeferredDigests => ({
    label: 'arguments',
    bytes: Buffer.from(join(...texts.flatMap((text) => [SALTS[0], text]))),
    expected: join(...texts.map((text) => saltedDigest('arguments', SALTS[0], text))),
  });
  const LONG = JSON.stringify({ content: 'x'.repeat(5000) });

  it('match', () => {
    expect(match(argumentsOf('{"a":1}', '{"a":"\\n"}', '{"b":"\u00e9"}', '{}'))).toBe(true);
  });

  it.each([
    ['a string that ends in the next row', '{"a":"'],
    ['an object that ends in the next row', '{"a":{}'],
    ['keys in another order', '{"b":1,"a":1}'],
    ['a space', '{"a": 1}'],
    ['a control character', '{"a":"\u0001"}'],
    ['a NUL', '{"a":"\0"}'],
    ['an unusual escape', '{"a":"\\u0041"}'],
    ['text after the object', '{}{}'],
    ['a list', '[]'],
    ['no text', ''],
    ['too long a text that is not cut', LONG],
  ])('report a mismatch with %s, whatever its digest', (_, text) => {
    for (const after of ['{"a":1}', '"}', '}']) expect(match(argumentsOf(text, after))).toBe(false);
    expect(match(argumentsOf('{"a":1}', text))).toBe(false);
    expect(match(argumentsOf('{"a":"\u00e9"}', text))).toBe(false);
  });
});

describe('links and the hashes of their thoughts', () => {
  const LINKS = ['{"content":"one"}', '{"content":"two"}', '{"content":"three"}'];
  const HASHES = LINKS.map((link) => sha256(link));

  it('match, in ASCII and in UTF-8', () => {
    expect(match({ links: LINKS, areAscii: true, expected: HASHES })).toBe(true);
    const bird = '{"content":"\u{1f426}"}';
    expect(match({ links: [toLatin1(bird)], areAscii: false, expected: [sha256(bird)] })).toBe(true);
    expect(match({ links: [], areAscii: true, expected: [] })).toBe(true);
  });

  const [first = '', second = '', third = ''] = HASHES;
  const wrong: Readonly<Record<string, readonly string[]>> = {
    'two hashes swapped': [second, first, third],
    'one hash missing': [first, second],
    'one hash too many': [...HASHES, third],
    'a digit that belongs to the hash before it': [first + second[0], second.slice(1), third],
    'a hash in upper case': [first, second, third.toUpperCase()],
  };
  for (const [name, expected] of Object.entries(wrong))
    it(`report a mismatch with ${name}`, () => {
      expect(match({ links: LINKS, areAscii: true, expected })).toBe(false);
    });

  it('report a mismatch with UTF-8 that is taken for ASCII', () => {
    const bird = '{"content":"\u{1f426}"}';
    expect(match({ links: [toLatin1(bird)], areAscii: true, expected: [sha256(bird)] })).toBe(false);
  });
});

describe('blocks of entries and the nodes above them', () => {
  const ENTRIES = Array.from({ length: 40 }, (_, index) => `{"entry":${index}}`);
  const BLOCKS = [ENTRIES.slice(0, 16), ENTRIES.slice(16, 32)];
  const NODES = BLOCKS.map((block) => naiveRoot(block.map((entry) => naiveLeaf(Buffer.from(entry)))));

  const deferBlocks = (entries: readonly string[], expected: string): DeferredDigests => ({
    ...toEntryBytes(entries),
    expected,
  });

  it('match, and entries after the last full block have no node', () => {
    expect(match(deferBlocks(ENTRIES, NODES.join('')))).toBe(true);
    expect(match(deferBlocks(ENTRIES.slice(0, 16), NODES[0] ?? ''))).toBe(true);
    expect(match(deferBlocks(ENTRIES.slice(0, 15), ''))).toBe(true);
    expect(match(deferBlocks([], ''))).toBe(true);
  });

  const wrong: Readonly<Record<string, DeferredDigests>> = {
    'another entry': deferBlocks(ENTRIES.with(20, '{}'), NODES.join('')),
    'two entries swapped': deferBlocks(ENTRIES.with(3, '{"entry":4}').with(4, '{"entry":3}'), NODES.join('')),
    'one entry missing': deferBlocks(ENTRIES.slice(1), NODES.join('')),
    'the nodes swapped': deferBlocks(ENTRIES, NODES.toReversed().join('')),
    'one node missing': deferBlocks(ENTRIES, NODES[0] ?? ''),
    'one node too many': deferBlocks(ENTRIES, [...NODES, NODES[0]].join('')),
    'no nodes': deferBlocks(ENTRIES, ''),
    'nodes and no entries': deferBlocks([], NODES.join('')),
  };
  for (const [name, deferred] of Object.entries(wrong))
    it(`reports a mismatch with ${name}`, () => {
      expect(match(deferred)).toBe(false);
    });
});
