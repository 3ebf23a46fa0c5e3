/** The blocks of an FTS5 index with contentless_delete, as far as deletions depend on them (ext/fts5/fts5_index.c). */

/** A batch of writes. It holds the rows that came with the writes from `firstOrigin` to `lastOrigin`. */
export interface Segment {
  readonly id: number;
  readonly firstPage: number;
  readonly lastPage: number;
  readonly firstOrigin: number;
  readonly lastOrigin: number;
  readonly tombstonePages: number;
}

const COOKIE_BYTES = 4;
const VERSION_2 = [0xff, 0x00, 0x00, 0x01];

/** The segments of each level, oldest first. Throws where the block is not exactly a structure record. */
export function readStructure(block: Uint8Array): Segment[][] {
  // The cookie counts changes of settings; a ledger makes none.
  if ([0, 0, 0, 0, ...VERSION_2].some((byte, place) => block[place] !== byte)) throw malformed();
  const varints = new Varints(block, COOKIE_BYTES + VERSION_2.length);
  const levelCount = varints.next();
  const segmentCount = varints.next();
  varints.next(); // the write counter
  const levels: Segment[][] = [];
  let left = segmentCount;
  for (let level = 0; level < levelCount; level += 1) {
    varints.next(); // segments in an ongoing merge
    const segments: Segment[] = [];
    const count = varints.next();
    left -= count;
    if (left < 0) throw malformed();
    for (let place = 0; place < count; place += 1) segments.push(readSegment(varints));
    levels.push(segments);
  }
  if (left !== 0 || varints.at !== block.length) throw malformed();
  return levels;
}

function readSegment(varints: Varints): Segment {
  const [id, firstPage, lastPage] = [varints.next(), varints.next(), varints.next()];
  const [firstOrigin, lastOrigin] = [varints.next(), varints.next()];
  const tombstonePages = varints.next();
  varints.next(); // tombstones
  varints.next(); // entries
  return { id, firstPage, lastPage, firstOrigin, lastOrigin, tombstonePages };
}

/** What FTS5 has counted while rows were inserted. */
export interface Averages {
  readonly rows: number;
  readonly words: number;
}

/** Reads the averages record of a one-column index, which is empty before the first row. */
export function readAverages(block: Uint8Array): Averages {
  if (block.length === 0) return { rows: 0, words: 0 };
  const varints = new Varints(block, 0);
  const averages = { rows: varints.next(), words: varints.next() };
  if (varints.at !== block.length) throw malformed();
  return averages;
}

const HEADER_BYTES = 4;

/** Hands over the row of every posting that begins on a leaf page. */
export function forEachRow(block: Uint8Array, visit: (rowid: number) => void): void {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const firstRow = view.getUint16(0);
  const end = view.getUint16(2);
  const footer = new Varints(block, end);
  let term = footer.at < block.length ? footer.next() : end;
  // A list of rows that began on an earlier page continues before the first term.
  if (firstRow !== 0) readRows(block, firstRow, term, visit);
  for (let isFirst = true; term < end; isFirst = false) {
    const next = footer.at < block.length ? term + footer.next() : end;
    if (next <= term || next > end) throw malformed();
    const varints = new Varints(block, term);
    if (!isFirst) varints.next(); // bytes shared with the term before
    const length = varints.next();
    readRows(block, varints.at + length, next, visit);
    term = next;
  }
  if (block.length < HEADER_BYTES) throw malformed();
}

/** A list of rows up to `end`, where the last row's positions may continue on the next page. */
function readRows(block: Uint8Array, begin: number, end: number, visit: (rowid: number) => void): void {
  let rowid = 0;
  const varints = new Varints(block, begin);
  while (varints.at < end) {
    rowid += varints.next();
    visit(rowid);
    if (varints.at >= end) return;
    const positions = Math.floor(varints.next() / 2);
    varints.at += positions;
  }
}

const TOMBSTONE_HEADER = 8;

/** Whether a row is deleted from a segment, found as FTS5 finds it: one that stands in a wrong slot has no effect. */
export function isDeleted(pages: ReadonlyMap<number, Uint8Array>, pageCount: number, rowid: number): boolean {
  const block = pages.get(rowid % pageCount);
  if (block === undefined || block.length <= TOMBSTONE_HEADER) return false;
  const keyBytes = block[0] === 4 ? 4 : 8;
  const slots = Math.floor((block.length - TOMBSTONE_HEADER) / keyBytes);
  if (slots === 0) return false;
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const keyAt = (slot: number) => {
    const at = TOMBSTONE_HEADER + slot * keyBytes;
    return keyBytes === 4 ? view.getUint32(at) : Number(view.getBigUint64(at));
  };
  let slot = Math.floor(rowid / pageCount) % slots;
  for (let tried = 0; tried <= slots && keyAt(slot) !== 0; tried += 1) {
    if (keyAt(slot) === rowid) return true;
    slot = (slot + 1) % slots;
  }
  return false;
}

/** Numbers of SQLite: seven bits to a byte, the highest first, at most nine bytes. */
class Varints {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    let value = 0;
    for (let count = 1; ; count += 1) {
      const byte = this.#bytes[this.at];
      if (byte === undefined) throw malformed();
      this.at += 1;
      if (count === 9) return value * 256 + byte;
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  }
}

function malformed(): Error {
  return new Error('a block of the search index is malformed');
}
