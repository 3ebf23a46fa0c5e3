import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Reader } from '../../db/database.ts';
import { createFolders } from '../../files/create-folders.ts';
import { sync } from '../../files/sync.ts';
import { type Digest, foldLeaves, foldRange, perfectSubtrees } from '../../integrity/index.ts';
import { readStored, storedLeaf } from '../../ledger/stored-tree.ts';
import { listEntries } from '../query/log-entries.ts';
import { CommandError } from '../support/command-result.ts';
import { notAsSigned } from './signed-entries.ts';

/** C2SP tlog-tiles: the log as files that never change, 256 hashes or entries in each. */

export const TILE = 256;
/** A tile has the hashes of every eighth level of the tree. */
const LEVELS_PER_TILE = 8;
/** The length of an entry has two bytes. Only an entry that names hundreds of tasks or sessions is longer. */
const MAX_ENTRY_BYTES = 65_535;

export interface WrittenTiles {
  /** The number of files that are new. */
  readonly files: number;
  /** The indexes of entries that are too long for the format. Their tiles have hashes, and no file of entries. */
  readonly tooLong: readonly number[];
}

/** The path of a tile; a tile that is not full yet has a width. */
export function tilePath(level: number | 'entries', index: number, width = TILE): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const parts = padded.map((part, place) => (place < padded.length - 1 ? `x${part}` : part));
  const suffix = width === TILE ? '' : `.p/${width}`;
  return `tile/${level}/${parts.join('/')}${suffix}`;
}

interface Growth {
  readonly from: number;
  readonly to: number;
  /** Of the log at its new size, as it was signed. */
  readonly root: Digest;
  readonly progress: (done: number, total: number) => void;
}

/** Writes the tiles of a log that grew. Refuses entries and stored nodes that do not give the signed root. */
export async function writeTiles(
  db: Reader,
  folder: string,
  { from, to, root, progress }: Growth,
): Promise<WrittenTiles> {
  let files = 0;
  const tooLong: number[] = [];
  if ((await foldPartialTiles(db, to)) !== root) throw notAsSigned('the entries are');
  for (const { index, begin, end } of grown(from, to)) {
    const entries = await readTexts(db, begin, end);
    const leaves = entries.map(storedLeaf);
    await assertFolds(db, { level: 0, index, hashes: leaves });
    const long = entries.flatMap((entry, offset) => (isTooLong(entry) ? [begin + offset] : []));
    tooLong.push(...long);
    if (long.length === 0)
      files += place(folder, 'entries', index, end - begin, () => Buffer.concat(entries.map(withLength)));
    files += place(folder, 0, index, end - begin, () => joinHashes(leaves));
    progress(end - from, to - from);
  }
  for (let level = 1; countAt(level, to) > 0; level += 1)
    for (const { index, begin, end } of grown(countAt(level, from), countAt(level, to))) {
      const hashes = await readStored(db, level * LEVELS_PER_TILE, begin, end);
      await assertFolds(db, { level, index, hashes });
      files += place(folder, level, index, end - begin, () => joinHashes(hashes));
    }
  return { files, tooLong };
}

/** The root from the tiles that are not full: their hashes cover the log, each tile a part of the size in binary. */
async function foldPartialTiles(db: Reader, size: number): Promise<Digest> {
  const subtrees: Digest[] = [];
  for (let level = 0; countAt(level, size) > 0; level += 1) {
    const end = countAt(level, size);
    const hashes = await readStored(db, level * LEVELS_PER_TILE, end - (end % TILE), end);
    const inTile = perfectSubtrees({ begin: 0, end: hashes.length }).map(({ level: height, index }) =>
      foldLeaves(hashes.slice(index * 2 ** height, (index + 1) * 2 ** height)),
    );
    subtrees.unshift(...inTile);
  }
  return foldRange(subtrees);
}

/** A full tile is a hash of the level above. One that is not full was checked with the root. */
async function assertFolds(
  db: Reader,
  { level, index, hashes }: { level: number; index: number; hashes: readonly Digest[] },
): Promise<void> {
  if (hashes.length < TILE) return;
  const [stored] = await readStored(db, (level + 1) * LEVELS_PER_TILE, index, index + 1);
  if (foldLeaves(hashes) === stored) return;
  const width = TILE ** (level + 1);
  throw notAsSigned(`the entries ${index * width} to ${(index + 1) * width - 1} are`);
}

/** How many hashes a level of tiles has: one for each full tile below. */
function countAt(level: number, size: number): number {
  return Math.floor(size / TILE ** level);
}

/** The tiles that have more in them than before. */
function* grown(from: number, to: number): Generator<{ index: number; begin: number; end: number }> {
  for (let index = Math.floor(from / TILE); index * TILE < to; index += 1) {
    const begin = index * TILE;
    const end = Math.min(begin + TILE, to);
    if (end > from) yield { index, begin, end };
  }
}

async function readTexts(db: Reader, begin: number, end: number): Promise<string[]> {
  const rows = await listEntries(db, begin, end);
  if (rows.length !== end - begin)
    throw new CommandError('cannot tell', `the log misses entries from ${begin} to ${end}`, {
      advice: 'run colibri verify',
    });
  return rows.map(({ entry }) => entry);
}

/** Writes a tile; a full tile replaces the partial ones. Returns 1 for a new file. */
function place(folder: string, level: number | 'entries', index: number, width: number, make: () => Buffer): number {
  const path = join(folder, tilePath(level, index, width));
  const bytes = make();
  if (existsSync(path)) {
    if (!readFileSync(path).equals(bytes))
      throw new CommandError('differs', `${path} has another content: it was published from another history`);
    return 0;
  }
  writePublic(folder, tilePath(level, index, width), bytes);
  if (width === TILE) rmSync(`${join(folder, tilePath(level, index))}.p`, { recursive: true, force: true });
  return 1;
}

/** Published files are for everyone, unlike all others that Colibri writes. */
export function writePublic(folder: string, name: string, bytes: Buffer | string): void {
  const path = join(folder, name);
  assertNoLinks(folder, name);
  createFolders(dirname(path), 0o777);
  const partial = `${path}.${randomBytes(4).toString('hex')}.partial`;
  writeFileSync(partial, bytes, { flag: 'wx' });
  sync(partial);
  renameSync(partial, path);
}

/** A folder that came with a repository may hold links to anywhere. */
function assertNoLinks(folder: string, name: string): void {
  for (let part = name; part !== '.'; part = dirname(part)) {
    const path = join(folder, part);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new CommandError('refused', `${path} is a link`, { advice: 'choose another folder' });
  }
}

function isTooLong(entry: string): boolean {
  return Buffer.byteLength(entry, 'utf8') > MAX_ENTRY_BYTES;
}

function withLength(entry: string): Buffer {
  const text = Buffer.from(entry, 'utf8');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, text]);
}

function joinHashes(hashes: readonly Digest[]): Buffer {
  return Buffer.from(hashes.join(''), 'hex');
}
