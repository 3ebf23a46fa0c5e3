import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRaw, HOSTILE_TEXTS } from '../test/support/hostile-text.ts';
import { promiseTest } from '../test/support/promise-test.ts';
import { createStyles, escapeUnsafe, linkTo, toTerminal } from './terminal-text.ts';

describe('text on a terminal', () => {
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
    promiseTest('cli/harmless', `data that ${name}`, () => {
      expect(findRaw(text)).not.toEqual([]);
      expect(findRaw(toTerminal(text))).toEqual([]);
      expect(findRaw(toTerminal(['first', `second ${text}`]))).toEqual([]);
    });

    promiseTest('cli/harmless', `data that ${name}, inside a style and as JSON`, () => {
      const { bold, green } = createStyles(true);
      expect(findRaw(toTerminal(bold(green(text))), { hasColors: true })).toEqual([]);
      const json = escapeUnsafe(JSON.stringify({ [text]: text }));
      expect(findRaw(json)).toEqual([]);
      expect(JSON.parse(json)).toEqual({ [text]: text });
    });
  }

  it.each([
    'plain',
    'C:\\new\\u001b',
    'Grüße, 日本語, עברית, عربي',
    '👩‍🚀 👩‍👩‍👧‍👦 👍🏽 ❤️ ❤︎ 1️⃣ 🇯🇵 🏳️‍🌈',
    '葛\u{e0100}',
    'e\u0301',
    'a\u00a0b',
  ])('shows %j as it is', (text) => expect(toTerminal(text)).toBe(text));

  it.each([
    ['\u001b', '\\u001b'],
    ['\n\r\t', '\\n\\r\\t'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['\ud800x', '\\ud800x'],
    ['\udc00', '\\udc00'],
    ['\u{1ffff}', '\\ud83f\\udfff'],
    ['\u200d👩', '\\u200d👩'],
    ['👩\u200dx', '👩\\u200dx'],
    ['❤\ufe0f\ufe0f', '❤\ufe0f\\ufe0f'],
    ['\u2028', '\\u2028'],
    ['ᅟ', '\\u115f'],
  ])('shows %j as %s', (text, shown) => expect(toTerminal(text)).toBe(shown));

  it('has the requested styles, and none if colors are off', () => {
    const { red, bold } = createStyles(true);
    expect(toTerminal([`a ${bold(red('b'))} c`, 'd'])).toBe('a \u001b[1m\u001b[31mb\u001b[39m\u001b[22m c\nd');
    expect(toTerminal(red(''))).toBe('');
    expect(toTerminal(createStyles(false).red('b'))).toBe('b');
  });

  promiseTest('cli/commit-links', 'as links whose text is data and whose address is safe', () => {
    const [start, end] = ['\u001b]8;;https://a.org/b\u001b\\', '\u001b]8;;\u001b\\'];
    expect(toTerminal(linkTo('https://a.org/b')('x\u001b'))).toBe(`${start}x\\u001b${end}`);
    for (const address of ['http://a.org', 'https://a.org/\u001b\\', 'https://a.org/b c', 'https://a.org/ü', ''])
      expect(toTerminal(linkTo(address)('x'))).toBe('x');
  });

  it('does not interpret style markers in data', () => {
    const marked = createStyles(true).red('x');
    const forged = marked.replaceAll(/[0-9a-f]{8}-/g, '00000000-');
    expect(forged).not.toBe(marked);
    expect(toTerminal(forged)).not.toContain('\u001b');
  });

  it('escapes text idempotently, and keeps the value of JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = escapeUnsafe(text);
        expect(escapeUnsafe(shown)).toBe(shown);
        expect(JSON.parse(escapeUnsafe(JSON.stringify(text)))).toBe(text);
      }),
    );
  });
});
