import { readFileSync } from 'node:fs';

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
