import { type Digest, leafHash, nodeHash, splitPoint } from '../../src/integrity/index.ts';

/** A node of the Merkle tree over the leaves from `begin` to `end`. */
export interface TreeNode {
  readonly begin: number;
  readonly end: number;
  readonly hash: Digest;
  readonly left?: TreeNode;
  readonly right?: TreeNode;
}

export interface Leaf {
  readonly index: number;
  readonly entry: string;
}

/** The tree of a log from some of its entries and the hashes of the subtrees without any of them. */
export function buildTree(leaves: readonly Leaf[], size: number, hashes: readonly Digest[]): TreeNode {
  let [place, used] = [0, 0];
  const build = (begin: number, end: number): TreeNode => {
    const next = leaves[place]?.index ?? size;
    if (next >= end) {
      used += 1;
      return { begin, end, hash: hashes[used - 1] ?? '' };
    }
    if (end - begin === 1) {
      place += 1;
      return { begin, end, hash: leafHash(leaves[place - 1]?.entry ?? '') };
    }
    const middle = begin + splitPoint(end - begin);
    const left = build(begin, middle);
    const right = build(middle, end);
    return { begin, end, hash: nodeHash(left.hash, right.hash), left, right };
  };
  return build(0, size);
}

/** One step from the root toward a leaf: the child on the path, and the other one, whose hash proves it. */
export interface PathStep {
  readonly parent: TreeNode;
  readonly node: TreeNode;
  readonly sibling: TreeNode;
  readonly side: 'left' | 'right';
}

export function pathTo(root: TreeNode, index: number): PathStep[] {
  const steps: PathStep[] = [];
  for (let node = root; node.left !== undefined && node.right !== undefined; ) {
    const side = index < node.left.end ? 'left' : 'right';
    const [next, sibling] = side === 'left' ? [node.left, node.right] : [node.right, node.left];
    steps.push({ parent: node, node: next, sibling, side });
    node = next;
  }
  return steps;
}
