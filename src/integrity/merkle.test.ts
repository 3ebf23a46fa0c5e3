import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { always } from '../../test/support/properties.ts';
import { naiveLeaf, naiveNode, naiveRoot } from '../../test/vectors/naive.ts';
import { EMPTY_ROOT, foldRange, leafHash, nodeHash, perfectSubtrees, TreeBuilder } from './index.ts';

const MAX_SIZE = 130;
const LEAVES = Array.from({ length: MAX_SIZE }, (_, index) => naiveLeaf(Buffer.from(`entry ${index}`)));

/** Leaves and roots of the reference implementation of Certificate Transparency. */
const KNOWN = [
  ['', '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  ['00', 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  ['10', 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  ['2021', 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
  ['3031', '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
  ['40414243', '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
  ['5051525354555657', 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
  ['606162636465666768696a6b6c6d6e6f', '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
] as const;

describe('the Merkle tree', () => {
  promiseTest('integrity/tree', 'the eight known roots of Certificate Transparency', () => {
    const tree = new TreeBuilder();
    expect(tree.root()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    for (const [hex, root] of KNOWN) {
      tree.add(leafHash(Buffer.from(hex, 'hex').toString('utf8')));
      expect(tree.root()).toBe(root);
    }
    expect(tree.size).toBe(8);
  });

  promiseTest('integrity/tree', `leaf by leaf up to ${MAX_SIZE}, with every full subtree reported once`, () => {
    const tree = new TreeBuilder();
    const reported: string[] = [];
    const expected: string[] = [];
    for (const [index, leaf] of LEAVES.entries()) {
      tree.add(leaf, (level, position, hash) => reported.push(`${level}/${position} ${hash}`));
      const size = index + 1;
      for (let level = 1; size % 2 ** level === 0; level += 1) {
        expected.push(`${level}/${size / 2 ** level - 1} ${naiveRoot(LEAVES.slice(size - 2 ** level, size))}`);
      }
      expect(reported).toEqual(expected);
      expect(tree.root()).toBe(naiveRoot(LEAVES.slice(0, size)));
    }
  });

  promiseTest('integrity/tree', 'whatever is hashed while a subtree is reported', () => {
    const tree = new TreeBuilder();
    const other = new TreeBuilder();
    for (const leaf of LEAVES) {
      tree.add(leaf, (_level, _position, hash) => {
        other.add(hash);
        nodeHash(hash, leaf);
      });
    }
    expect(tree.root()).toBe(naiveRoot(LEAVES));
  });

  promiseTest('integrity/tree', 'a range is the fold of its full subtrees', () => {
    for (let begin = 0; begin < MAX_SIZE; begin += 1) {
      // A subtree of n leaves starts at a multiple of the largest power of two within n.
      for (let end = begin + 1; end <= MAX_SIZE && begin % 2 ** Math.floor(Math.log2(end - begin)) === 0; end += 1) {
        const hashes = perfectSubtrees({ begin, end }).map(({ level, index }) =>
          naiveRoot(LEAVES.slice(index * 2 ** level, (index + 1) * 2 ** level)),
        );
        expect(foldRange(hashes)).toBe(naiveRoot(LEAVES.slice(begin, end)));
      }
    }
    expect(perfectSubtrees({ begin: 0, end: 0 })).toEqual([]);
    expect(foldRange([])).toBe(EMPTY_ROOT);
  });

  promiseTest('integrity/tree', 'any entry and any two hashes', () => {
    always(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        const [left, right] = [leafHash(one), leafHash(other)];
        expect(left).toBe(naiveLeaf(Buffer.from(one, 'utf8')));
        expect(nodeHash(left, right)).toBe(naiveNode(left, right));
      }),
    );
  });

  it('keeps leaves and inner nodes apart', () => {
    const [left, right] = [leafHash('{"a":1}'), leafHash('{"a":2}')];
    const children = Buffer.from(left + right, 'hex');
    expect(naiveLeaf(children)).not.toBe(nodeHash(left, right));
    expect(leafHash(left + right)).not.toBe(nodeHash(left, right));
    expect(leafHash('')).not.toBe(EMPTY_ROOT);
    expect(nodeHash(left, right)).not.toBe(nodeHash(right, left));
  });

  it('does not double a lonely leaf', () => {
    const [a, b, c] = ['a', 'b', 'c'].map(leafHash) as [string, string, string];
    const rootOf = (...leaves: string[]) => {
      const tree = new TreeBuilder();
      for (const leaf of leaves) tree.add(leaf);
      return tree.root();
    };
    expect(rootOf(a, b, c)).not.toBe(rootOf(a, b, c, c));
    expect(rootOf(a)).not.toBe(rootOf(a, a));
  });

  it('refuses an entry that UTF-8 cannot hold, which would share its leaf with another', () => {
    for (const entry of ['\ud800', 'a\udc00', '\udc00\ud800']) expect(() => leafHash(entry)).toThrow(RangeError);
  });

  it('refuses to hash what is not a digest', () => {
    const good = leafHash('');
    const bad = ['', good.slice(1), good.slice(2), `${good}0`, `${good}\n`, good.toUpperCase(), ` ${good.slice(1)}`];
    const odd = ['g', '/', ':', '@', '`', '\u0000', '\u00e4', '\u2028', '-'].map((digit) => good.slice(1) + digit);
    for (const hash of [...bad, ...odd]) {
      expect(() => nodeHash(hash, good)).toThrow(RangeError);
      expect(() => nodeHash(good, hash)).toThrow(RangeError);
    }
    // The refusal must leave nothing behind in the buffer that all calls share.
    expect(nodeHash(good, good)).toBe(naiveNode(good, good));
  });
});
