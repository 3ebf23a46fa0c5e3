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

/** Turns the root page of a table into levels of interior pages that all point to one child: `width` ** `depth` rows. */
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
