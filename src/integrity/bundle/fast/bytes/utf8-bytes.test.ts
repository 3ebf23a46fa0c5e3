import { describe, expect } from 'vitest';
import { promiseTest } from '../../../../../test/support/promise-test.ts';
import { decode, wideLength } from './utf8-bytes.ts';

/** By the decoder: how many of the bytes are one character; 0 if none are. */
function lengthOf(bytes: Uint8Array): number {
  for (const length of [2, 3, 4])
    try {
      if (Array.from(decode(bytes, 0, length)).length === 1) return length;
    } catch {
      // Not a character of this length.
    }
  return 0;
}

describe('a character of UTF-8', () => {
  promiseTest('bundle/strict', 'invalid sequences are the same as for the decoder', () => {
    const edges = [0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
    let characters = 0;
    for (let lead = 0x80; lead <= 0xff; lead += 1)
      for (const second of edges)
        for (const third of edges)
          for (const fourth of [0x22, 0x80, 0xbf, 0xc0]) {
            const bytes = Uint8Array.of(lead, second, third, fourth);
            const expected = lengthOf(bytes);
            if (expected > 0) characters += 1;
            expect(wideLength(bytes, 0), bytes.join()).toBe(expected);
          }
    expect(characters).toBeGreaterThan(1000);
  });
});
