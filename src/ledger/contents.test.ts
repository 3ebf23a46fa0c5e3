import { describe, expect, it } from 'vitest';
import { saltedDigest } from '../integrity/index.ts';
import { areAsClaimed, type Contents } from './contents.ts';

const SALTS = ['00112233445566778899aabbccddeeff', 'ffeeddccbbaa99887766554433221100'] as const;
const TEXTS = ['{"content":"keep the parser strict"}', '{"bird":"\u{1f426}","line":"\u2028"}'] as const;

const digestOf = (row: 0 | 1) => saltedDigest('extras', SALTS[row], TEXTS[row]);
const HONEST = [SALTS[0], TEXTS[0], SALTS[1], TEXTS[1]] as const;

function contentsOf(parts: readonly (string | Buffer)[], claimed = digestOf(0) + digestOf(1)): Contents {
  const bytes = parts.flatMap((part, place) => [...(place === 0 ? [] : [Buffer.from('\u001e')]), Buffer.from(part)]);
  return { label: 'extras', bytes: Buffer.concat(bytes), claimed };
}

describe('contents', () => {
  it('are as claimed', () => {
    expect(areAsClaimed(contentsOf(HONEST))).toBe(true);
    expect(areAsClaimed(contentsOf(HONEST.slice(0, 2), digestOf(0)))).toBe(true);
    expect(areAsClaimed({ label: 'extras', bytes: Buffer.of(), claimed: '' })).toBe(true);
  });

  const [salt, text, otherSalt, otherText] = HONEST;
  const wrong: Readonly<Record<string, Contents>> = {
    'another text': contentsOf([salt, text, otherSalt, '{}']),
    'another salt': contentsOf([otherSalt, text, otherSalt, otherText]),
    'the rows in another order': contentsOf([otherSalt, otherText, salt, text]),
    'the digests in another order': contentsOf(HONEST, digestOf(1) + digestOf(0)),
    'the digest of another label': {
      ...contentsOf(HONEST.slice(0, 2), saltedDigest('arguments', salt, text)),
    },
    'a row without a digest': contentsOf(HONEST, digestOf(0)),
    'a digest without a row': contentsOf(HONEST.slice(0, 2)),
    'digests and no row': contentsOf([]),
    'rows and no digest': contentsOf(HONEST, ''),
    'half of a digest': contentsOf(HONEST, digestOf(0) + digestOf(1).slice(0, 32)),
    'digests in capitals': contentsOf(HONEST, (digestOf(0) + digestOf(1)).toUpperCase()),
    'a salt with the first letter of the text': contentsOf([`${salt}{`, text.slice(1), otherSalt, otherText]),
    'a text with the last letter of its salt': contentsOf([salt.slice(0, -1), `f${text}`, otherSalt, otherText]),
    'a salt in capitals': contentsOf([salt.toUpperCase(), text, otherSalt, otherText]),
    'a separator in a text': contentsOf([salt, `${text}\u001e`, otherSalt, otherText]),
    'two texts that are one': contentsOf([salt, text + otherSalt, otherText]),
    'bytes that are no text': contentsOf([salt, text, otherSalt, Buffer.of(0xff, 0xfe)]),
    'half of a surrogate pair': contentsOf([salt, text, otherSalt, Buffer.of(0xed, 0xa0, 0xbd)]),
  };
  for (const [name, contents] of Object.entries(wrong))
    it(`are not as claimed: ${name}`, () => {
      expect(areAsClaimed(contents)).toBe(false);
    });
});
