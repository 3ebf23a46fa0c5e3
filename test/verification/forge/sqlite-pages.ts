import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = 4096;

/** Rewrites a closed SQLite file as a forger with a hex editor does. */
export function rewriteFile(path: string, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(path, change(readFileSync(path)));
}

/** Adds a well-formed freelist that names these pages, which are in use: the next writes overwrite them. */
export function freePages(bytes: Buffer, pages: readonly number[]): Buffer {
  const trunk = Buffer.alloc(PAGE);
  for (const [place, value] of [0, pages.length, ...pages].entries()) trunk.writeUInt32BE(value, 4 * place);
  const grown = Buffer.concat([bytes, trunk]);
  const count = grown.length / PAGE;
  grown.writeUInt32BE(count, 28);
  grown.writeUInt32BE(count, 32);
  grown.writeUInt32BE(pages.length + 1, 36);
  return grown;
}

/**
 * Turns the root page of a table into levels of interior pages that all point to one child: `width` ** `depth` rows.
 */
export function multiplyRows(bytes: Buffer, root: number, { depth, width }: { depth: number; width: number }): Buffer {
  const at = (root - 1) * PAGE;
  const pages: Buffer[] = [Buffer.from(bytes.subarray(at, at + PAGE))];
  let child = bytes.length / PAGE + 1;
  for (let level = 1; level < depth; level += 1) {
    pages.push(interiorPage(child, width));
    child += 1;
  }
  const grown = Buffer.concat([bytes, ...pages]);
  interiorPage(child, width).copy(grown, at);
  grown.writeUInt32BE(grown.length / PAGE, 28);
  return grown;
}

const INTERIOR_TABLE = 5;
const HEADER = 12;
const CELL = 7;

function interiorPage(child: number, width: number): Buffer {
  const page = Buffer.alloc(PAGE);
  page[0] = INTERIOR_TABLE;
  page.writeUInt16BE(width - 1, 3);
  page.writeUInt16BE(PAGE - (width - 1) * CELL, 5);
  page.writeUInt32BE(child, 8);
  for (let cell = 0; cell < width - 1; cell += 1) {
    const at = PAGE - (cell + 1) * CELL;
    const key = 20_000 + cell;
    page.writeUInt16BE(at, HEADER + 2 * cell);
    page.writeUInt32BE(child, at);
    page.set([0x80 | ((key >> 14) & 0x7f), 0x80 | ((key >> 7) & 0x7f), key & 0x7f], at + 4);
  }
  return page;
}

const MAGIC = Buffer.from('d9d505f920a163d7', 'hex');
const HEADER_BYTES = 512;
const SALT = 7;

export const PAGE_BYTES = 4096;

/** A journal that SQLite plays back when it opens the database: https://www.sqlite.org/fileformat.html */
export function writeHotJournal(pages: ReadonlyMap<number, Buffer>, databasePages: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32BE(pages.size, 8);
  header.writeUInt32BE(SALT, 12);
  header.writeUInt32BE(databasePages, 16);
  header.writeUInt32BE(HEADER_BYTES, 20);
  header.writeUInt32BE(PAGE_BYTES, 24);
  return Buffer.concat([header, ...[...pages].map(([number, page]) => writeRecord(number, page))]);
}

/** The journal that turns the one database file into the other. */
export function journalBetween(present: string, restored: Buffer): Buffer {
  const before = readFileSync(present);
  const pages = new Map<number, Buffer>();
  for (let at = 0; at < restored.length; at += PAGE_BYTES) {
    const page = restored.subarray(at, at + PAGE_BYTES);
    if (!page.equals(before.subarray(at, at + PAGE_BYTES))) pages.set(at / PAGE_BYTES + 1, page);
  }
  return writeHotJournal(pages, restored.length / PAGE_BYTES);
}

function writeRecord(number: number, page: Buffer): Buffer {
  const record = Buffer.alloc(PAGE_BYTES + 8);
  record.writeUInt32BE(number, 0);
  page.copy(record, 4);
  let checksum = SALT;
  for (let at = PAGE_BYTES - 200; at > 0; at -= 200) checksum += page[at] ?? 0;
  record.writeUInt32BE(checksum, PAGE_BYTES + 4);
  return record;
}
