import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { always } from '../../test/support/properties.ts';
import { sha256 as inHook, rawSha256 as rawInHook } from '../recorder/hook-sha256.ts';
import { toHex } from './hex.ts';
import { sha256 as inBrowser, rawSha256 as rawInBrowser } from './sha256.browser.ts';
import { sha256 as inNode, rawSha256 as rawInNode } from './sha256.ts';

describe('SHA-256', () => {
  for (const [name, sha256] of Object.entries({ inNode, inBrowser, inHook })) {
    it(`gives the examples of FIPS 180-4, ${name}`, () => {
      expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
      expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
      expect(sha256('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
        '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
      );
    });

    it(`digests the bytes of a view, not of the buffer behind it, ${name}`, () => {
      const bytes = new TextEncoder().encode('xabcx');
      expect(sha256(bytes.subarray(1, 4))).toBe(sha256('abc'));
    });
  }

  it('gives the same for a long text in a hook, which then loads the module of Node', () => {
    for (const text of ['é'.repeat(65_536), 'é'.repeat(65_537)])
      expect([inHook(text), rawInHook(text)]).toEqual([inNode(text), rawInNode(text)]);
  });

  it('gives the same for every length of up to two blocks in a hook that has hashed little', async () => {
    vi.resetModules();
    const fresh = await import('../recorder/hook-sha256.ts');
    const load = vi.spyOn(process, 'getBuiltinModule');
    for (let length = 0; length <= 130; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 181 + length) % 256);
      expect([fresh.sha256(bytes), fresh.rawSha256(bytes)]).toEqual([inNode(bytes), rawInNode(bytes)]);
    }
    expect(load).not.toHaveBeenCalled();
    // Many short texts take longer than loading the module.
    for (let count = 0; count < 500; count += 1) expect(fresh.sha256(`text ${count}`)).toBe(inNode(`text ${count}`));
    expect(load).toHaveBeenCalled();
    load.mockRestore();
  });

  promiseTest('integrity/browser', 'all hash files agree on any bytes and any text', () => {
    always(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (bytes, text) => {
        for (const data of [bytes, text]) {
          const expected = createHash('sha256').update(data).digest('hex');
          expect(inNode(data)).toBe(expected);
          expect(inBrowser(data)).toBe(expected);
          expect(toHex(rawInNode(data))).toBe(expected);
          expect(rawInBrowser(data)).toBe(rawInNode(data));
          expect([inHook(data), rawInHook(data)]).toEqual([expected, rawInNode(data)]);
        }
      }),
    );
  });
});
