import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  cut,
  cutWords,
  displayWidth,
  joinShort,
  pad,
  printable,
  printableProse,
  wrap,
  wrapShort,
} from './text-width.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.lorem({ maxCount: 20 }),
  fc.string({ unit: fc.constantFrom('日', '本', ' ', 'a', '👩‍🚀', 'é', '\n', '\t'), maxLength: 60 }),
);

describe('displayWidth', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['日本語', 6],
    ['한국어', 6],
    ['ｆｕｌｌ', 8],
    ['half ｶﾅ', 7],
    ['🧾', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['👍🏽', 2],
    ['🇯🇵', 2],
    ['❤️', 2],
    ['❤', 1],
    ['1️⃣', 2],
    ['e\u0301', 1],
    ['\u200b', 0],
    ['→ · … ▌', 7],
    ['𠮷', 2],
  ])('of %j is %i', (text, width) => expect(displayWidth(text)).toBe(width));
});

describe('cut and pad', () => {
  it.each([
    ['short', 5, 'short'],
    ['longer', 5, 'long…'],
    ['two words', 5, 'two…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['日本語', 2, '…'],
    ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, '👩‍👩‍👧‍👦…'],
    ['anything', 1, '…'],
    ['anything', 0, ''],
    ['anything', -3, ''],
  ])('cuts %j to %i columns as %j', (text, width, expected) => expect(cut(text, width)).toBe(expected));

  it('cut never exceeds the width, and pad matches it exactly', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, width) => {
        const shown = printable(text);
        expect(displayWidth(cut(shown, width))).toBeLessThanOrEqual(width);
        expect(displayWidth(pad(shown, width))).toBe(width);
      }),
    );
  });
});

describe('wrap', () => {
  it('breaks between words and keeps line breaks', () => {
    expect(wrap('one two three\n\nfour', 8)).toEqual(['one two', 'three', '', 'four']);
  });

  it('breaks long words, and between wide characters', () => {
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(wrap('see src/cli/support/command-result.ts:12 there', 20)).toEqual([
      'see src/cli/support/',
      'command-result.ts:12',
      'there',
    ]);
    expect(wrap('日本語の領収書', 5)).toEqual(['日本', '語の', '領収', '書']);
    expect(wrap('see 日本語', 8)).toEqual(['see 日本', '語']);
  });

  it('ends with an ellipsis if lines are left out', () => {
    expect(wrapShort('one two three four', 8, 2)).toEqual(['one two', 'three…']);
    expect(wrapShort('one two', 8, 2)).toEqual(['one two']);
    expect(wrapShort('eight by eight words', 8, 1)).toEqual(['eight…']);
    expect(wrapShort('unbreakable', 8, 1)).toEqual(['unbreak…']);
    expect(wrapShort('日本語の領収書', 8, 1)).toEqual(['日本語…']);
  });

  for (const [name, text] of Object.entries({ 'one word': 'é', 'wide characters': '日', 'many words': 'é ' }))
    it(`reads a long text a few times, not once for each line or word: ${name}`, () => {
      const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
      onTestFinished(() => segment.mockRestore());
      for (const width of [40, Number.POSITIVE_INFINITY]) wrap(text.repeat(4000), width);
      expect(segment.mock.calls.reduce((sum, [read]) => sum + read.length, 0)).toBeLessThan(100_000);
    });

  it('never exceeds the width and drops only blanks', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 40 }), (text, width) => {
        const shown = printableProse(text);
        const lines = wrap(shown, width);
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(/\s/g, '')).toBe(shown.replaceAll(/\s/g, ''));
        for (const line of wrapShort(shown, width, 2)) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('joinShort', () => {
  it('starts a new line before a part that does not fit, and breaks no part', () => {
    const facts = ['@claude-code', '', '40 %', 'silent 12m'];
    expect(joinShort(facts, ' · ', 40)).toEqual(['@claude-code · 40 % · silent 12m']);
    expect(joinShort(facts, ' · ', 20)).toEqual(['@claude-code · 40 %', 'silent 12m']);
    expect(joinShort(facts, ' · ', 8)).toEqual(['@claude…', '40 %', 'silent…']);
    expect(joinShort(['', ''], ' · ', 8)).toEqual([]);
  });
});

describe('printable', () => {
  it.each([
    ['\u001b[31mred', '\\u001b[31mred'],
    ['bell\u0007', 'bell\\u0007'],
    ['\u009b2J', '\\u009b2J'],
    ['a\u202eb', 'a\\u202eb'],
    ['half\ud800', 'half\\ud800'],
    ['two\nlines\tand  blanks ', 'two lines and blanks'],
  ])('escapes %j', (text, expected) => expect(printable(text)).toBe(expected));

  it('keeps line breaks in prose', () => {
    expect(printableProse('one\n\ttwo\u001b')).toBe('one\n\ttwo\\u001b');
  });
});

describe('cutWords', () => {
  it.each([
    ['Rotate the signing key', 22, 'Rotate the signing key'],
    ['Rotate the signing key', 21, 'Rotate the signing…'],
    ['Rotate the signing key', 18, 'Rotate the…'],
    ['Rotate the signing key', 19, 'Rotate the signing…'],
    ['Ship https://example.com/releases/spring', 30, 'Ship https://example.com/…'],
    ['Ship candidateWithoutASingleBlank', 20, 'Ship candidateWitho…'],
    ['日本語の領収書', 9, '日本語の…'],
    ['word', 1, '…'],
    ['word', 0, ''],
  ])('%j to %i columns', (text, width, expected) => expect(cutWords(text, width)).toBe(expected));
});
