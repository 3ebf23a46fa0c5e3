/** The number of levels of a tree, leaves and root included: 8 leaves make 4. */
export function treeDepth(leafCount: number): number {
  return leafCount === 0 ? 0 : Math.ceil(Math.log2(leafCount)) + 1;
}
