import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexedWords, phrases, searchPhrases } from './tokenizer.ts';

describe('phrases', () => {
  const cases: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    ['', []],
    [' \t\n', []],
    ['!?.,;:-_()[]{}"\'`^*+~/\\|<>=&%$#@', []],
    ['Fix the BUILD', [['fix'], ['the'], ['build']]],
    ['snake_case and kebab-case', [['snake'], ['case'], ['and'], ['kebab'], ['case']]],
    ['v1.2.3', [['v1'], ['2'], ['3']]],
    ['Crème brûlée, naïve', [['creme'], ['brulee'], ['naive']]],
    ['cre\u0300me', [['creme']]],
    ['ＦＵＬＬ ﬁle', [['full'], ['file']]],
    ['设计 API 書', [['设', '计'], ['api'], ['書']]],
    ['API設計2026', [['api', '設', '計', '2026']]],
    ['한국어 검색', [['한국어'], ['검색']]],
    ['a🚀b', [['a'], ['🚀'], ['b']]],
    ['👍🏽', [['👍']]],
    ['👨‍👩‍👧', [['👨'], ['👩'], ['👧']]],
    ['🇩🇪🇫🇷', [['🇩🇪'], ['🇫🇷']]],
    ['\u200d\ufe0f', []],
  ];
  for (const [text, words] of cases) {
    it(`splits ${JSON.stringify(text)}`, () => expect(phrases(text)).toEqual(words));
  }
});

describe('indexedWords', () => {
  it('contains only ASCII letters and digits, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (title, description) => {
        expect(indexedWords(title, description)).toMatch(/^[a-z0-9 ]*$/);
        for (const word of searchPhrases(title).flat()) expect(word).toMatch(/^[a-z0-9]+$/);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('shares a prefix only where the texts share one', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'q', 'u', 'z', '4', '7', 'f', 'я', 'п', 'ж'), minLength: 1 });
    fc.assert(
      fc.property(word, word, (one, other) => {
        const [[shorter] = []] = searchPhrases(one);
        expect(indexedWords(other, '').startsWith(shorter as string)).toBe(other.startsWith(one));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it('finds a word by the text that it came from', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const stored = ` ${indexedWords(text, '')}`;
        for (const phrase of searchPhrases(text)) expect(stored).toContain(` ${phrase.join(' ')}`);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('separates title and description', () => {
    expect(indexedWords('over', 'flow')).toBe('over flow');
  });

  it('keeps the first 64 characters of a word in any alphabet', () => {
    expect(indexedWords('a'.repeat(100), '')).toBe('a'.repeat(64));
    const [[cyrillic] = []] = searchPhrases('ж'.repeat(100));
    expect(cyrillic).toBe('q436z'.repeat(64));
  });
});
