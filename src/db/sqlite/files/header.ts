import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { APPLICATION_ID } from '../pragmas.ts';

const HEADER_BYTES = 100;

/** Values of the file header that change how SQLite reads or writes, and that no statement returns. */
const FIXED: readonly (readonly [at: number, allowed: readonly number[], name: string])[] = [
  [18, [1, 2], 'write version'],
  [19, [1, 2], 'read version'],
  [20, [0], 'number of reserved bytes'],
  [21, [64], 'maximum payload fraction'],
  [22, [32], 'minimum payload fraction'],
  [23, [32], 'leaf payload fraction'],
  // 0 until the first checkpoint: the write-ahead log has the schema.
  [47, [0, 4], 'schema format'],
];

/** Lists header values that no ledger has. Call it without an open connection: closing the file drops its locks. */
export function listHeaderProblems(path: string): string[] {
  const header = readHeader(path);
  return FIXED.filter(([at, allowed]) => !allowed.includes(header[at] ?? -1)).map(
    ([at, , name]) => `has ${header[at]} as its ${name}`,
  );
}

/** True for a file with the mark of a ledger and all its pages. If SQLite cannot read it, it was changed. */
export function isCompleteLedgerFile(path: string): boolean {
  const header = readHeader(path);
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  return header.readUInt32BE(68) === APPLICATION_ID && statSync(path).size >= header.readUInt32BE(28) * pageSize;
}

/** https://www.sqlite.org/fileformat2.html#file_format_version_numbers */
export function isInWalMode(path: string): boolean {
  return readHeader(path)[18] === 2;
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return header;
}
