import { describe, expect, it } from 'vitest';
import { toEntryBytes } from '../../../test/support/entry-bytes.ts';
import { naiveLeaf, naiveRoot } from '../../../test/support/naive-merkle.ts';
import { saltedDigest } from '../../integrity/index.ts';
import { type Claim, holds } from './deferred-digest.ts';

const SALTS = ['00112233445566778899aabbccddeeff', 'ffeeddccbbaa99887766554433221100'] as const;
const TEXTS = ['{"branch":"keep-the-parser-strict"}', '{"metadata":{"bird":"\u{1f426}","line":"\u2028"}}'] as const;

const digestOf = (row: 0 | 1) => saltedDigest('extras', SALTS[row], TEXTS[row]);
const HONEST = [SALTS[0], TEXTS[0], SALTS[1], TEXTS[1]] as const;

function claimOf(parts: readonly (string | Buffer)[], claimed = digestOf(0) + digestOf(1)): Claim {
  const bytes = parts.flatMap((part, place) => [...(place === 0 ? [] : [Buffer.from('\u001e')]), Buffer.from(part)]);
  return { label: 'extras', bytes: Buffer.concat(bytes), claimed };
}

describe('contents and their digests', () => {
  it('hold', () => {
    expect(holds(claimOf(HONEST))).toBe(true);
    expect(holds(claimOf(HONEST.slice(0, 2), digestOf(0)))).toBe(true);
    expect(holds({ label: 'extras', bytes: Buffer.of(), claimed: '' })).toBe(true);
  });

  const [salt, text, otherSalt, otherText] = HONEST;
  const unordered = '{"commit_sha":"0123456","branch":"main"}';
  const wrong: Readonly<Record<string, Claim>> = {
    'a text that is not canonical': claimOf([salt, unordered], saltedDigest('extras', salt, unordered)),
    'a text with an unknown field': claimOf([salt, '{"mood":1}'], saltedDigest('extras', salt, '{"mood":1}')),
    'another text': claimOf([salt, text, otherSalt, '{}']),
    'another salt': claimOf([otherSalt, text, otherSalt, otherText]),
    'the rows in another order': claimOf([otherSalt, otherText, salt, text]),
    'the digests in another order': claimOf(HONEST, digestOf(1) + digestOf(0)),
    'the digest of another label': claimOf(HONEST.slice(0, 2), saltedDigest('arguments', salt, text)),
    'a row without a digest': claimOf(HONEST, digestOf(0)),
    'a digest without a row': claimOf(HONEST.slice(0, 2)),
    'digests and no row': claimOf([]),
    'rows and no digest': claimOf(HONEST, ''),
    'half of a digest': claimOf(HONEST, digestOf(0) + digestOf(1).slice(0, 32)),
    'digests in capitals': claimOf(HONEST, (digestOf(0) + digestOf(1)).toUpperCase()),
    'a salt with the first letter of the text': claimOf([`${salt}{`, text.slice(1), otherSalt, otherText]),
    'a text with the last letter of its salt': claimOf([salt.slice(0, -1), `f${text}`, otherSalt, otherText]),
    'a salt in capitals': claimOf([salt.toUpperCase(), text, otherSalt, otherText]),
    'a separator in a text': claimOf([salt, `${text}\u001e`, otherSalt, otherText]),
    'two texts that are one': claimOf([salt, text + otherSalt, otherText]),
    'bytes that are no text': claimOf([salt, text, otherSalt, Buffer.of(0xff, 0xfe)]),
    'half of a surrogate pair': claimOf([salt, text, otherSalt, Buffer.of(0xed, 0xa0, 0xbd)]),
  };
  for (const [name, claim] of Object.entries(wrong))
    it(`do not hold with ${name}`, () => {
      expect(holds(claim)).toBe(false);
    });
});

describe('blocks of entries and the nodes above them', () => {
  const ENTRIES = Array.from({ length: 40 }, (_, index) => `{"entry":${index}}`);
  const BLOCKS = [ENTRIES.slice(0, 16), ENTRIES.slice(16, 32)];
  const NODES = BLOCKS.map((block) => naiveRoot(block.map((entry) => naiveLeaf(Buffer.from(entry)))));

  const claimOfBlocks = (entries: readonly string[], claimed: string): Claim => ({ ...toEntryBytes(entries), claimed });

  it('hold, and what is behind the last full block has no node', () => {
    expect(holds(claimOfBlocks(ENTRIES, NODES.join('')))).toBe(true);
    expect(holds(claimOfBlocks(ENTRIES.slice(0, 16), NODES[0] ?? ''))).toBe(true);
    expect(holds(claimOfBlocks(ENTRIES.slice(0, 15), ''))).toBe(true);
    expect(holds(claimOfBlocks([], ''))).toBe(true);
  });

  const wrong: Readonly<Record<string, Claim>> = {
    'another entry': claimOfBlocks(ENTRIES.with(20, '{}'), NODES.join('')),
    'two entries exchanged': claimOfBlocks(ENTRIES.with(3, '{"entry":4}').with(4, '{"entry":3}'), NODES.join('')),
    'an entry less': claimOfBlocks(ENTRIES.slice(1), NODES.join('')),
    'the nodes exchanged': claimOfBlocks(ENTRIES, NODES.toReversed().join('')),
    'a node less': claimOfBlocks(ENTRIES, NODES[0] ?? ''),
    'a node more': claimOfBlocks(ENTRIES, [...NODES, NODES[0]].join('')),
    'no nodes': claimOfBlocks(ENTRIES, ''),
    'nodes and no entries': claimOfBlocks([], NODES.join('')),
  };
  for (const [name, claim] of Object.entries(wrong))
    it(`do not hold with ${name}`, () => {
      expect(holds(claim)).toBe(false);
    });
});
