import type { Reader } from '../../db/database.ts';
import { isDigest } from '../../integrity/index.ts';
import { BLOCK, LEVELS_PER_BLOCK } from '../../ledger/stored-tree.ts';
import type { Hasher } from '../hashing.ts';
import type { Latin1Text } from '../latin1-text.ts';
import type { LeafCheck } from '../leaf-check.ts';
import type { StoredTexts } from '../stored-page.ts';
import { readPackedTexts } from './packed-entries.ts';

/** The largest number of consecutive blocks that are read at once. */
const MAX_RUN = 32;

/** The texts of entries by their indexes; undefined unless all of them match the stored tree. */
export async function readProvenTexts(
  reader: Reader,
  leaves: LeafCheck,
  hasher: Hasher,
  indexes: readonly number[],
): Promise<ReadonlyMap<number, Latin1Text> | undefined> {
  for (const index of indexes) if (!(await leaves.isInLog(index))) return undefined;
  const size = await leaves.readSize();
  const wanted = new Set(indexes);
  const texts = new Map<number, Latin1Text>();
  for (const { begin, end } of runsOf(indexes.map((index) => Math.floor(index / BLOCK)))) {
    const page = await readPackedTexts(reader, begin * BLOCK, Math.min(end * BLOCK, size));
    if (page === undefined) return undefined;
    for (let offset = 0; offset < page.texts.length; offset += 1) {
      const index = page.begin + offset;
      if (wanted.has(index)) texts.set(index, page.texts[offset] as Latin1Text);
    }
    if (!(await matchNodes(reader, hasher, page, begin))) return undefined;
    for (let block = Math.floor(begin / BLOCK); block * BLOCK < end; block += 1)
      if (!(await leaves.holdsFrom(LEVELS_PER_BLOCK, block))) return undefined;
  }
  return texts.size === wanted.size ? texts : undefined;
}

/** Compares the full blocks of a page with the nodes that are stored above them. */
async function matchNodes(reader: Reader, hasher: Hasher, page: StoredTexts, begin: number): Promise<boolean> {
  const { bytes, ends } = page;
  const blocks = Math.floor(ends.length / BLOCK);
  const stored = await reader.query<{ idx: number; hash: string }>(
    'SELECT idx, hash FROM ledger_nodes WHERE level = $1 AND idx >= $2 AND idx < $3 ORDER BY idx',
    [LEVELS_PER_BLOCK, begin, begin + blocks],
  );
  if (!stored.every(({ idx, hash }, offset) => idx === begin + offset && isDigest(hash))) return false;
  return hasher.compare({ bytes, ends, expected: stored.map(({ hash }) => hash).join('') }) !== 'different';
}

/** Consecutive numbers as ranges of limited length. */
function runsOf(numbers: readonly number[]): { readonly begin: number; readonly end: number }[] {
  const runs: { begin: number; end: number }[] = [];
  for (const number of [...new Set(numbers)].sort((left, right) => left - right)) {
    const last = runs.at(-1);
    if (last?.end === number && last.end - last.begin < MAX_RUN) last.end += 1;
    else runs.push({ begin: number, end: number + 1 });
  }
  return runs;
}
