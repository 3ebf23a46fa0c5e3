import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseWidth } from './options.ts';

describe('--width', () => {
  it.each(['20', '80', '1000'])('accepts %s', (text) => expect(parseWidth(text)).toBe(Number(text)));
  it.each(['', '0', '19', '1001', '-80', '8e1', '80.5', 'wide', ' 80'])('refuses %j', (text) => {
    expect(() => parseWidth(text)).toThrow(InvalidArgumentError);
  });
});
