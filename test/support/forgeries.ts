import type { ConsistencyClaim, InclusionClaim } from '../../src/integrity/index.ts';
import { naiveLeaf, naiveNode, naivePath, naiveProof, naiveRoot } from './naive-merkle.ts';

/** What a stranger's file can hold where a claim is expected. */
type Untrusted<Claim> = { readonly [Field in keyof Claim]: unknown };

export interface Forgery<Claim> {
  /** The defect. */
  readonly name: string;
  readonly claim: Untrusted<Claim>;
}

type Named<Value> = readonly [name: string, value: Value];

/** A hash that stands in no tree of the tests. */
const FOREIGN = naiveLeaf(Buffer.from('a leaf of nobody'));

export function honestInclusion(leaves: readonly string[], index: number): InclusionClaim {
  const leaf = leaves[index];
  if (leaf === undefined) throw new Error(`no leaf ${index}`);
  return { leaf, index, size: leaves.length, proof: naivePath(index, leaves), root: naiveRoot(leaves) };
}

export function honestConsistency(leaves: readonly string[], oldSize: number): ConsistencyClaim {
  const [oldRoot, root] = [naiveRoot(leaves.slice(0, oldSize)), naiveRoot(leaves)];
  return { oldSize, oldRoot, size: leaves.length, root, proof: naiveProof(oldSize, leaves) };
}

/** Claims that are false for every tree: each is the honest one with a single defect. */
export function forgeInclusion(leaves: readonly string[], index: number): Forgery<InclusionClaim>[] {
  const honest = honestInclusion(leaves, index);
  const { leaf, size, proof, root } = honest;
  const other = leaves.map((_, place) => naiveLeaf(Buffer.from(`of another tree ${place}`)));
  const neighbours = [index - 1, index + 1].filter((place) => place >= 0 && place < size);
  return [
    ...vary(honest, 'proof', forgedProofs(proof)),
    ...vary(honest, 'index', [
      ...[...new Set([index - 1, index + 1, size, size * 2, -index - 1, 2 ** 32 + index])].map(
        (place): Named<unknown> => [`${place}`, place],
      ),
      ...wrongNumbers(index),
    ]),
    ...vary(honest, 'size', [
      ['of no leaf', 0],
      ['that ends before the leaf', index],
      ['doubled', size * 2],
      ['of a huge tree', Number.MAX_SAFE_INTEGER],
      ...wrongNumbers(size),
    ]),
    ...vary(honest, 'leaf', [...forgedHashes(leaf), ['of another tree', other[index]]]),
    ...vary(honest, 'root', [...forgedHashes(root), ['of another tree', naiveRoot(other)]]),
    {
      name: 'size and root of a longer tree',
      claim: { ...honest, size: size + 1, root: naiveRoot([...leaves, FOREIGN]) },
    },
    {
      name: 'path beyond the root, with what it leads to on the left for a root',
      claim: { ...honest, proof: [...proof, FOREIGN], root: naiveNode(FOREIGN, root) },
    },
    {
      name: 'path beyond the root, with what it leads to on the right for a root',
      claim: { ...honest, proof: [...proof, FOREIGN], root: naiveNode(root, FOREIGN) },
    },
    ...neighbours.map((place) => ({
      name: `proof of its neighbour ${place}`,
      claim: { ...honest, proof: naivePath(place, leaves) },
    })),
    ...neighbours.map((place) => ({
      name: `leaf of its neighbour ${place}`,
      claim: { ...honest, leaf: leaves[place] },
    })),
    ...(proof[0] === undefined
      ? []
      : [
          {
            name: 'cut path, with the node that it leads to for a root',
            claim: { ...honest, proof: [proof[0]], root: proof.length > 1 ? parent(honest, proof[0]) : FOREIGN },
          },
          { name: 'proof of another tree', claim: { ...honest, proof: naivePath(index, other) } },
          {
            name: 'inner node passed off as a leaf',
            claim: { ...honest, leaf: parent(honest, proof[0]), proof: proof.slice(1) },
          },
        ]),
  ];
}

export function forgeConsistency(leaves: readonly string[], oldSize: number): Forgery<ConsistencyClaim>[] {
  const honest = honestConsistency(leaves, oldSize);
  const { oldRoot, size, root, proof } = honest;
  const rewritten = [naiveLeaf(Buffer.from('history, rewritten')), ...leaves.slice(1)];
  const nextRoot = naiveRoot(leaves.slice(0, oldSize + 1));
  return [
    ...vary(honest, 'proof', forgedProofs(proof)),
    ...vary(honest, 'oldSize', [
      ['of no leaf', 0],
      ['beyond the size', size + 1],
      ...(size === oldSize ? [] : [['equal to the size', size] as const]),
      ...wrongNumbers(oldSize),
    ]),
    ...vary(honest, 'size', [
      ['of no leaf', 0],
      ['before the old size', oldSize - 1],
      ...(size === oldSize ? [] : [['equal to the old size', oldSize] as const]),
      ['doubled', size * 2],
      ['of a huge tree', Number.MAX_SAFE_INTEGER],
      ...wrongNumbers(size),
    ]),
    ...vary(honest, 'oldRoot', forgedHashes(oldRoot)),
    ...vary(honest, 'root', forgedHashes(root)),
    { name: 'old history rewritten', claim: { ...honest, oldRoot: naiveRoot(rewritten.slice(0, oldSize)) } },
    { name: 'new history rewritten', claim: { ...honest, root: naiveRoot(rewritten) } },
    { name: 'empty old tree, no proof', claim: { ...honest, oldSize: 0, oldRoot: naiveRoot([]), proof: [] } },
    { name: 'empty old tree, proof of another', claim: { ...honest, oldSize: 0, oldRoot: naiveRoot([]) } },
    {
      name: 'empty old tree, with the first leaf for its root',
      claim: { ...honest, oldSize: 0, oldRoot: leaves[0], proof: [leaves[0], ...naivePath(0, leaves)] },
    },
    {
      name: 'proof beyond the roots, with what it leads to on the left for roots',
      claim: {
        ...honest,
        proof: [...proof, FOREIGN],
        oldRoot: naiveNode(FOREIGN, oldRoot),
        root: naiveNode(FOREIGN, root),
      },
    },
    {
      name: 'proof beyond the roots, with what it leads to on the right for a root',
      claim: { ...honest, proof: [...proof, FOREIGN], root: naiveNode(root, FOREIGN) },
    },
    { name: 'empty trees with a root', claim: { ...honest, oldSize: 0, size: 0, oldRoot: root, proof: [] } },
    { name: 'equal sizes with a proof', claim: { ...honest, oldSize: size, oldRoot: root, proof: [FOREIGN] } },
    { name: 'equal sizes, other root', claim: { ...honest, oldSize: size, oldRoot: FOREIGN, proof: [] } },
    ...(size === oldSize
      ? []
      : [
          { name: 'roots exchanged', claim: { ...honest, oldRoot: root, root: oldRoot } },
          { name: 'a shrinking log', claim: { ...honest, oldSize: size, oldRoot: root, size: oldSize, root: oldRoot } },
          { name: 'old size and old root one leaf on', claim: { ...honest, oldSize: oldSize + 1, oldRoot: nextRoot } },
          { name: 'old root one leaf on', claim: { ...honest, oldRoot: nextRoot } },
        ]),
  ];
}

function forgedProofs(proof: readonly string[]): Named<unknown>[] {
  const [first] = proof;
  const anyLength: Named<unknown>[] = [
    ['extended at the front', [FOREIGN, ...proof]],
    ['extended at the back', [...proof, FOREIGN]],
    ['extended by an empty string', [...proof, '']],
    ['null', null],
    ['a string', proof.join('')],
    ['an object', Object.assign({ length: proof.length }, proof)],
  ];
  if (first === undefined) return anyLength;
  const each = proof.flatMap((hash, place): Named<unknown>[] => [
    ...forgedHashes(hash).map(
      ([name, value]): Named<unknown> => [`hash ${place}: ${name}`, proof.with(place, value as string)],
    ),
    [`hash ${place} duplicated`, proof.toSpliced(place, 0, hash)],
    [`hash ${place} left out`, proof.toSpliced(place, 1)],
  ]);
  const swaps = proof
    .slice(1)
    .map(
      (hash, place): Named<unknown> => [
        `hashes ${place} and ${place + 1} swapped`,
        proof.with(place, hash).with(place + 1, proof[place] as string),
      ],
    );
  return [
    ...anyLength,
    ...each,
    ...swaps,
    ['doubled', [...proof, ...proof]],
    ...(proof.length > 1 ? [['emptied', []] as const, ['reversed', proof.toReversed()] as const] : []),
  ];
}

function forgedHashes(hash: string): Named<unknown>[] {
  return [
    ['first bit flipped', flipBit(hash, 0)],
    ['last bit flipped', flipBit(hash, 255)],
    ['upper case', hash.toUpperCase()],
    ['one digit short', hash.slice(1)],
    ['one byte short', hash.slice(0, -2)],
    ['one byte long', `${hash}00`],
    ['followed by a line feed', `${hash}\n`],
    ['prefixed with 0x', `0x${hash.slice(2)}`],
    ['empty', ''],
    ['inside a list', [hash]],
    ['null', null],
    ['zero', 0],
  ];
}

function wrongNumbers(honest: number): Named<unknown>[] {
  return [
    ['as text', String(honest)],
    ['as a list', [honest]],
    ['null', null],
    ['true', true],
    ['negative', -1],
    ['a fraction', honest + 0.5],
    ['beyond 2^53', 2 ** 53],
    ['astronomic', 1e300],
  ];
}

/** Bit 0 is the highest of the first byte. */
export function flipBit(hash: string, bit: number): string {
  const bytes = Buffer.from(hash, 'hex');
  bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (0x80 >> (bit & 7)), bit >> 3);
  return bytes.toString('hex');
}

function vary<Claim extends object>(honest: Claim, field: keyof Claim & string, values: readonly Named<unknown>[]) {
  return values.map(([name, value]) => ({
    name: `${field}: ${name}`,
    claim: { ...honest, [field]: value },
  }));
}

function parent({ leaf, index, size }: InclusionClaim, sibling: string): string {
  return index % 2 === 0 && index < size - 1 ? naiveNode(leaf, sibling) : naiveNode(sibling, leaf);
}
