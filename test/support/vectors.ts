import { CANONICAL_CASES } from './canonical-cases.ts';
import { type Forgery, forgeConsistency, forgeInclusion, honestConsistency, honestInclusion } from './forgeries.ts';
import { naiveIsConsistent, naiveLeaf, naiveRootFromPath } from './naive-merkle.ts';
import { createChainVectors } from './trail-vectors.ts';

/** The leaves that the reference implementation of Certificate Transparency tests with, then some of our own. */
const CT_LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const VECTOR_LEAVES = [...CT_LEAVES, 'a0', 'b0b1', 'c0c1c2'].map((hex) => naiveLeaf(Buffer.from(hex, 'hex')));

/** Every file of test/vectors by name, made from the naive reference alone. */
export function createVectorFiles(): Readonly<Record<string, string>> {
  return {
    'merkle-inclusion.json': render(INCLUSIONS.flatMap(inclusionVectors)),
    'merkle-consistency.json': render(CONSISTENCIES.flatMap(consistencyVectors)),
    'trail/thought-chains.json': render(createChainVectors()),
    'canonical-json.json': render(CANONICAL_CASES.map(([name, text, canonical]) => ({ name, text, canonical }))),
  };
}

const INCLUSIONS = [
  { index: 0, size: 1 },
  { index: 2, size: 3 },
  { index: 5, size: 7 },
  { index: 3, size: 8 },
] as const;

function inclusionVectors({ index, size }: (typeof INCLUSIONS)[number]): object[] {
  const place = `leaf ${index} of ${size}`;
  const leaves = VECTOR_LEAVES.slice(0, size);
  const honest = honestInclusion(leaves, index);
  const sizes = [size - 1, size + 1].filter((other) => other > index);
  return [
    flat(place, true, { name: 'honest', claim: honest }),
    ...forgeInclusion(leaves, index).map((forgery) => flat(place, false, forgery)),
    ...sizes.map((other) => {
      const isSame = naiveRootFromPath(index, other, honest.leaf, honest.proof) === honest.root;
      const name = isSame ? `size: ${other}, which no path can tell from ${size}` : `size: ${other}`;
      return flat(place, isSame, { name, claim: { ...honest, size: other } });
    }),
  ];
}

const CONSISTENCIES = [
  { oldSize: 1, size: 1 },
  { oldSize: 1, size: 2 },
  { oldSize: 3, size: 7 },
  { oldSize: 4, size: 8 },
  { oldSize: 7, size: 11 },
] as const;

function consistencyVectors({ oldSize, size }: (typeof CONSISTENCIES)[number]): object[] {
  const place = `${oldSize} before ${size}`;
  const leaves = VECTOR_LEAVES.slice(0, size);
  const honest = honestConsistency(leaves, oldSize);
  const sizes = [size - 1, size + 1].filter((other) => other > oldSize);
  return [
    flat(place, true, { name: 'honest', claim: honest }),
    ...forgeConsistency(leaves, oldSize).map((forgery) => flat(place, false, forgery)),
    ...sizes.map((other) => {
      const isSame = naiveIsConsistent(oldSize, other, { old: honest.oldRoot, new: honest.root }, honest.proof);
      const name = isSame ? `size: ${other}, which no proof can tell from ${size}` : `size: ${other}`;
      return flat(place, isSame, { name, claim: { ...honest, size: other } });
    }),
  ];
}

function flat(place: string, accepted: boolean, { name, claim }: Forgery<object>): object {
  return { name: `${place}, ${name}`, accepted, ...claim };
}

/** One vector to a line, so that a change shows as the lines that it touches. */
function render(vectors: readonly object[]): string {
  return `[\n${vectors.map((vector) => JSON.stringify(vector)).join(',\n')}\n]\n`;
}
