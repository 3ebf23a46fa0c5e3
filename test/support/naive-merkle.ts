import { createHash } from 'node:crypto';

/**
 * RFC 6962 section 2.1 word for word, over arrays and without regard for cost: slow enough to be obviously right. The
 * two verifiers run its recursive definitions backwards, a different way than the product's loop over bits.
 */

export function naiveLeaf(entry: Uint8Array): string {
  return createHash('sha256').update(Uint8Array.of(0x00)).update(entry).digest('hex');
}

export function naiveNode(left: string, right: string): string {
  return createHash('sha256').update(Uint8Array.of(0x01)).update(left, 'hex').update(right, 'hex').digest('hex');
}

/** MTH(D[n]), where D[n] is given by the hashes of its leaves. */
export function naiveRoot(leaves: readonly string[]): string {
  const [only] = leaves;
  if (only === undefined) return createHash('sha256').digest('hex');
  if (leaves.length === 1) return only;
  const k = naiveSplit(leaves.length);
  return naiveNode(naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

/** PATH(m, D[n]). */
export function naivePath(m: number, leaves: readonly string[]): string[] {
  if (leaves.length === 1) return [];
  const k = naiveSplit(leaves.length);
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}

/** PROOF(m, D[n]). */
export function naiveProof(m: number, leaves: readonly string[]): string[] {
  return naiveSubproof(m, leaves, true);
}

/** SUBPROOF(m, D[n], b). */
function naiveSubproof(m: number, leaves: readonly string[], b: boolean): string[] {
  if (m === leaves.length) return b ? [] : [naiveRoot(leaves)];
  const k = naiveSplit(leaves.length);
  return m <= k
    ? [...naiveSubproof(m, leaves.slice(0, k), b), naiveRoot(leaves.slice(k))]
    : [...naiveSubproof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}

/** The root that a path leads to, or undefined when it is too long or too short for the place. */
export function naiveRootFromPath(m: number, n: number, leaf: string, path: readonly string[]): string | undefined {
  if (n === 1) return path.length === 0 ? leaf : undefined;
  const k = naiveSplit(n);
  const last = path.at(-1);
  const below =
    m < k ? naiveRootFromPath(m, k, leaf, path.slice(0, -1)) : naiveRootFromPath(m - k, n - k, leaf, path.slice(0, -1));
  if (last === undefined || below === undefined) return undefined;
  return m < k ? naiveNode(below, last) : naiveNode(last, below);
}

interface Roots {
  readonly old: string;
  readonly new: string;
}

export function naiveIsConsistent(m: number, n: number, roots: Roots, proof: readonly string[]): boolean {
  const found = naiveRootsFromProof(m, n, roots.old, proof, true);
  return found !== undefined && found.old === roots.old && found.new === roots.new;
}

/** Both roots that a proof leads to; `b` says that the old tree is a subtree of its own, whose root is known. */
function naiveRootsFromProof(
  m: number,
  n: number,
  old: string,
  proof: readonly string[],
  b: boolean,
): Roots | undefined {
  const last = proof.at(-1);
  if (m === n) {
    if (b) return last === undefined ? { old, new: old } : undefined;
    return last !== undefined && proof.length === 1 ? { old: last, new: last } : undefined;
  }
  const k = naiveSplit(n);
  const rest = proof.slice(0, -1);
  const below = m <= k ? naiveRootsFromProof(m, k, old, rest, b) : naiveRootsFromProof(m - k, n - k, old, rest, false);
  if (last === undefined || below === undefined) return undefined;
  return m <= k
    ? { old: below.old, new: naiveNode(below.new, last) }
    : { old: naiveNode(last, below.old), new: naiveNode(last, below.new) };
}

/** The largest power of two smaller than n. */
function naiveSplit(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}
