import { describe, expect, it } from 'vitest';
import { isAfter } from './cursor.ts';

describe('isAfter', () => {
  it.each<[readonly unknown[], readonly unknown[]]>([
    [[2], [1]],
    [[1], [-1]],
    [['b'], ['a']],
    [['ab'], ['a']],
    [['\u{1f426}'], ['\uff5e']],
    [
      ['a', 2],
      ['a', 1],
    ],
    [
      ['b', 1],
      ['a', 2],
    ],
  ])('%j comes after %j', (key, last) => {
    expect(isAfter(key, last)).toBe(true);
    expect(isAfter(last, key)).toBe(false);
    expect(isAfter(key, key)).toBe(false);
  });

  it.each<[readonly unknown[], readonly unknown[]]>([
    [['2'], [1]],
    [[2], ['1']],
    [[new Uint8Array([2])], [1]],
    [[null], [1]],
    [[Number.NaN], [1]],
    [[2], [Number.NaN]],
    [[undefined], [1]],
    [
      ['a', '2'],
      ['a', 1],
    ],
  ])('%j has no order with %j, so that a loop ends', (key, last) => {
    expect(isAfter(key, last)).toBe(false);
    expect(isAfter(last, key)).toBe(false);
  });
});
