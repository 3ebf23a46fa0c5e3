import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { always } from '../../test/support/properties.ts';
import { naiveLeaf, naiveRoot } from '../../test/vectors/naive.ts';
import { type EntryBytes, LogTree } from './log-tree.ts';

/** Entries as a page of the store has them: each behind a byte that may be anything. */
function toBytes(entries: readonly string[]): EntryBytes {
  let end = 0;
  const ends = Uint32Array.from(entries, (entry) => {
    end += 1 + Buffer.byteLength(entry);
    return end;
  });
  return { bytes: Buffer.from(entries.map((entry) => `\u007f${entry}`).join('')), ends };
}

describe('the tree of a log', () => {
  it('computes the tree of RFC 6962, whatever the pages are', () => {
    const pages = fc.array(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 40 }), { maxLength: 4 });
    always(
      fc.property(pages, (lists) => {
        const leaves = lists.flat().map((entry) => naiveLeaf(Buffer.from(entry)));
        const tree = new LogTree(leaves.length);
        const nodes = lists.flatMap((page) => tree.add(toBytes(page)));
        expect(tree.finish().root).toBe(naiveRoot(leaves));
        const expected = Array.from({ length: Math.floor(leaves.length / 16) }, (_, index) => ({
          level: 4,
          index,
          hash: naiveRoot(leaves.slice(index * 16, index * 16 + 16)),
        }));
        expect(nodes).toEqual(expected);
      }),
    );
  });
});
