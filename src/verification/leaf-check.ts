import type { Reader } from '../db/database.ts';
import { type Digest, isDigest, TreeBuilder } from '../integrity/index.ts';
import { readSize } from '../ledger/head.ts';
import { BLOCK, LEVELS_PER_BLOCK, readStored } from '../ledger/stored-tree.ts';
import { type ClaimCheck, checkHere } from './fast/deferred-digest.ts';
import type { ByteText } from './fast/latin1-text.ts';
import { readTexts, type StoredTexts } from './fast/page.ts';

const MAX_VERDICTS = 4096;
/** How many blocks that lie side by side are read at once. */
const MAX_RUN = 32;

/** Checks entries against the tree above them, as far as it is stored. Neighbours share the work. */
export class LeafCheck {
  readonly #reader: Reader;
  readonly #claims: ClaimCheck;
  readonly #verdicts = new Map<string, boolean>();
  #size: number | undefined;

  constructor(reader: Reader, claims: ClaimCheck = checkHere) {
    this.#reader = reader;
    this.#claims = claims;
  }

  /** False when the entry is outside of the log, or a node above it is missing or does not match what is below it. */
  async holds(index: number): Promise<boolean> {
    return this.#isInLog(index, await this.#readSize()) && this.#holdsFrom(0, Math.floor(index / BLOCK));
  }

  /** The texts of many entries by their indexes; undefined unless all of them hold. */
  async readAll(indexes: readonly number[]): Promise<ReadonlyMap<number, ByteText> | undefined> {
    const size = await this.#readSize();
    if (!indexes.every((index) => this.#isInLog(index, size))) return undefined;
    const wanted = new Set(indexes);
    const texts = new Map<number, ByteText>();
    for (const { begin, end } of runsOf(indexes.map((index) => Math.floor(index / BLOCK)))) {
      const last = Math.min(end * BLOCK, size);
      const page = await readTexts(this.#reader, begin * BLOCK, last);
      if (page.texts.length !== last - begin * BLOCK || !(await this.#areBelow(page, begin))) return undefined;
      for (let place = 0; place < page.texts.length; place += 1) {
        const index = begin * BLOCK + place;
        if (wanted.has(index)) texts.set(index, page.texts[place] as ByteText);
      }
      for (let block = Math.floor(begin / BLOCK); block * BLOCK < end; block += 1)
        if (!(await this.#holdsFrom(LEVELS_PER_BLOCK, block))) return undefined;
    }
    return texts.size === wanted.size ? texts : undefined;
  }

  /** Whether the nodes that full blocks of entries give are stored above them. */
  async #areBelow(page: StoredTexts, begin: number): Promise<boolean> {
    const { bytes, ends } = page;
    const blocks = Math.floor(ends.length / BLOCK);
    const stored = await this.#reader.query<{ idx: number; hash: string }>(
      'SELECT idx, hash FROM ledger_nodes WHERE level = $1 AND idx >= $2 AND idx < $3 ORDER BY idx',
      [LEVELS_PER_BLOCK, begin, begin + blocks],
    );
    if (!stored.every(({ idx, hash }, place) => idx === begin + place && isDigest(hash))) return false;
    return this.#claims.holds({ bytes, ends, claimed: stored.map(({ hash }) => hash).join('') });
  }

  #isInLog(index: number, size: number): boolean {
    return Number.isSafeInteger(index) && index >= 0 && index < size;
  }

  async #readSize(): Promise<number> {
    this.#size ??= await readSize(this.#reader);
    return this.#size;
  }

  /** Whether a block of nodes, and all blocks above it, match the node that is stored over them. */
  async #holdsFrom(level: number, position: number): Promise<boolean> {
    // A node is stored as soon as its subtree is full; above the last full one there is nothing to compare with.
    const size = await this.#readSize();
    if ((position + 1) * BLOCK * 2 ** level > size) return true;
    if (!(await this.#block(level, position))) return false;
    return this.#holdsFrom(level + LEVELS_PER_BLOCK, Math.floor(position / BLOCK));
  }

  async #block(level: number, position: number): Promise<boolean> {
    const key = `${level}/${position}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const [stored] = await this.#reader.query<{ hash: string }>(
      'SELECT hash FROM ledger_nodes WHERE level = $1 AND idx = $2',
      [level + LEVELS_PER_BLOCK, position],
    );
    const begin = position * BLOCK;
    const hashes = await readStored(this.#reader, level, begin, begin + BLOCK);
    const isTrue = hashes.length === BLOCK && hashes.every(isDigest) && rootOf(hashes) === stored?.hash;
    // Records come in the order of the log: what was far back is not asked for again.
    if (this.#verdicts.size > MAX_VERDICTS) this.#verdicts.clear();
    this.#verdicts.set(key, isTrue);
    return isTrue;
  }
}

function rootOf(hashes: readonly Digest[]): Digest {
  const tree = new TreeBuilder();
  for (const hash of hashes) tree.add(hash);
  return tree.root();
}

/** Numbers that follow one another, as few ranges of limited length. */
function runsOf(numbers: readonly number[]): { readonly begin: number; readonly end: number }[] {
  const runs: { begin: number; end: number }[] = [];
  for (const number of [...new Set(numbers)].sort((left, right) => left - right)) {
    const last = runs.at(-1);
    if (last?.end === number && last.end - last.begin < MAX_RUN) last.end += 1;
    else runs.push({ begin: number, end: number + 1 });
  }
  return runs;
}
