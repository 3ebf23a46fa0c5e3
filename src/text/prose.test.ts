import { describe, expect, it } from 'vitest';
import { wrapProse } from './prose.ts';

describe('prose on a terminal', () => {
  it('breaks between words, under the indentation', () => {
    expect(wrapProse('  one two three', 9)).toEqual(['  one two', '  three']);
    expect(wrapProse(['short', 'one two three'], 7)).toEqual(['short', 'one two', 'three']);
  });

  it('never breaks a word', () => {
    const key = `colibri/${'x'.repeat(90)}`;
    expect(wrapProse(key, 80)).toEqual([key]);
    expect(wrapProse(`stored in ${key} now`, 20)).toEqual(['stored in', key, 'now']);
  });

  it('leaves lines that are copied as they are, and everything without a terminal', () => {
    for (const line of [
      '  colibri restore a b c',
      '{"a": "b c d"}',
      '— name c2ln bmF0',
      '    at f (file.ts:1:2) x',
      '  mode   FULL',
    ])
      expect(wrapProse(line, 10)).toEqual([line]);
    expect(wrapProse('one two three', undefined)).toEqual(['one two three']);
  });
});
