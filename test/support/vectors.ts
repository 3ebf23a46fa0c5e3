import { CANONICAL_CASES } from './canonical-cases.ts';
import { type Forgery, forgeConsistency, forgeInclusion, honestConsistency, honestInclusion } from './forgeries.ts';
import { naiveIsConsistent, naiveLeaf, naiveRootFromPath } from './naive-merkle.ts';

/** The leaves that the reference implementation of Certificate Transparency tests with, then some of our own. */
const CT_LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const VECTOR_LEAVES = [...CT_LEAVES, 'a0', 'b0b1', 'c0c1c2'].map((hex) => naiveLeaf(Buffer.from(hex, 'hex')));

/** Every file of test/vectors by name, made from the naive reference alone. */
export function createVectorFiles(): Readonly<Record<string, string>> {
  return {
    'merkle-inclusion.json': render(inclusionVectors()),
    'merkle-consistency.json': render(consistencyVectors()),
    'canonical-json.json': render(CANONICAL_CASES.map(([name, text, canonical]) => ({ name, text, canonical }))),
  };
}

function inclusionVectors(): object[] {
  const places = [
    [0, 1],
    [2, 3],
    [5, 7],
    [3, 8],
  ] as const;
  return places.flatMap(([index, size]) => {
    const leaves = VECTOR_LEAVES.slice(0, size);
    const honest = honestInclusion(leaves, index);
    const sizes = [size - 1, size + 1].filter((other) => other > index);
    return [
      flat(`leaf ${index} of ${size}`, true, { name: 'honest', claim: honest }),
      ...forgeInclusion(leaves, index).map((forgery) => flat(`leaf ${index} of ${size}`, false, forgery)),
      ...sizes.map((other) => {
        const isSame = naiveRootFromPath(index, other, honest.leaf, honest.proof) === honest.root;
        return flat(`leaf ${index} of ${size}`, isSame, {
          name: isSame ? `size: ${other}, which no path can tell from ${size}` : `size: ${other}`,
          claim: { ...honest, size: other },
        });
      }),
    ];
  });
}

function consistencyVectors(): object[] {
  const pairs = [
    [1, 1],
    [1, 2],
    [3, 7],
    [4, 8],
    [7, 11],
  ] as const;
  return pairs.flatMap(([oldSize, size]) => {
    const leaves = VECTOR_LEAVES.slice(0, size);
    const honest = honestConsistency(leaves, oldSize);
    const roots = { old: honest.oldRoot, new: honest.root };
    const sizes = [size - 1, size + 1].filter((other) => other > oldSize);
    return [
      flat(`${oldSize} before ${size}`, true, { name: 'honest', claim: honest }),
      ...forgeConsistency(leaves, oldSize).map((forgery) => flat(`${oldSize} before ${size}`, false, forgery)),
      ...sizes.map((other) => {
        const isSame = naiveIsConsistent(oldSize, other, roots, honest.proof);
        return flat(`${oldSize} before ${size}`, isSame, {
          name: isSame ? `size: ${other}, which no proof can tell from ${size}` : `size: ${other}`,
          claim: { ...honest, size: other },
        });
      }),
    ];
  });
}

function flat(place: string, accepted: boolean, { name, claim }: Forgery<object>): object {
  return { name: `${place}, ${name}`, accepted, ...claim };
}

/** One vector to a line, so that a change shows as the lines that it touches. */
function render(vectors: readonly object[]): string {
  return `[\n${vectors.map((vector) => JSON.stringify(vector)).join(',\n')}\n]\n`;
}
