/** The number of levels, including leaves and root: 4 for 8 leaves. */
export function treeDepth(leafCount: number): number {
  return leafCount === 0 ? 0 : Math.ceil(Math.log2(leafCount)) + 1;
}
