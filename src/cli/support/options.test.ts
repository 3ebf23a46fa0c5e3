import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseWidth } from './options.ts';

describe('a width', () => {
  it.each(['20', '80', '1000'])('can be %s', (text) => expect(parseWidth(text)).toBe(Number(text)));
  it.each(['', '0', '19', '1001', '-80', '8e1', '80.5', 'wide', ' 80'])('cannot be %j', (text) => {
    expect(() => parseWidth(text)).toThrow(InvalidArgumentError);
  });
});
