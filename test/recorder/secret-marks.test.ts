import { describe, expect } from 'vitest';
import { blankSecrets } from '../../src/recorder/secrets/blank.ts';
import { hasToken, PREFIXED } from '../../src/recorder/secrets/prefixed-tokens.ts';
import { possiblePatterns, SHAPES, TOKENS } from '../../src/recorder/secrets/shapes.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createMatches } from './create-matches.ts';
import { SECRETS } from './secret-samples.ts';

const EACH = 300;

/** Characters whose case is folded in unusual ways, and separators of every kind. */
const AROUND = ['', ' ', '\n', '"', 'ſ', 'K', 'İ', 'ß', '\u2028', '\\', '=', 'a', '_'];

describe('the marks that decide which shapes of secrets are searched', () => {
  promiseTest('recorder/secrets', 'are in whatever a shape matches', () => {
    let count = 0;
    for (const { marks, pattern } of SHAPES)
      for (const text of variants(pattern.source, pattern.flags)) {
        if (text.search(pattern) === -1) continue;
        count += 1;
        const lower = text.toLowerCase();
        expect(
          marks.some((mark) => lower.includes(mark)),
          `${pattern.source} in ${text}`,
        ).toBe(true);
        expect(possiblePatterns(text)).toContain(pattern);
      }
    // Otherwise the generator makes no texts that match.
    expect(count).toBeGreaterThan(SHAPES.length * EACH * 2);
  });

  promiseTest('recorder/secrets', 'are in every token', () => {
    let count = 0;
    for (const { source } of PREFIXED)
      for (const text of variants(source, 'g')) {
        const isToken = text.search(TOKENS) !== -1;
        if (isToken) count += 1;
        expect(hasToken(text), `${source} in ${text}`).toBe(isToken);
      }
    expect(count).toBeGreaterThan(PREFIXED.length * EACH * 2);
  });

  promiseTest('recorder/secrets', 'change nothing about what is blanked', () => {
    const texts = SECRETS.flatMap(({ text }) => AROUND.map((around) => `${around}${text}${around}`));
    let blanked = 0;
    for (const text of [...texts, ...texts.map((text) => text.toUpperCase()), ...texts.map((text) => text.slice(3))]) {
      const searched = [TOKENS, ...SHAPES.map(({ pattern }) => pattern)].filter(
        (pattern) => text.search(pattern) !== -1,
      );
      expect(possiblePatterns(text)).toEqual(expect.arrayContaining(searched));
      if (searched.length > 0) blanked += 1;
      expect(blankSecrets(text) !== text || searched.length === 0, text).toBe(true);
    }
    expect(blanked).toBeGreaterThan(texts.length);
  });
});

function variants(source: string, flags: string): string[] {
  return createMatches(source, flags, EACH).flatMap((text, index) => {
    const around = AROUND[index % AROUND.length] ?? '';
    return [text, `${around}${text}`, ` ${text}${around}`, `${text}@`];
  });
}
