/**
 * Reads just enough of git's index to tell whether a file is tracked: https://git-scm.com/docs/index-format
 * git itself is not asked, because it runs programs that the configuration of a cloned repository names.
 */

export class NotAnIndex extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotAnIndex';
  }
}

export interface IndexScan {
  readonly isTracked: boolean;
  /** The hash in the name of the shared index that holds the other entries, where the index is split. */
  readonly sharedIndex: string | undefined;
}

/** How a path is compared: some file systems ignore case, and some decompose letters. */
export function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Whether the index lists one of the paths, which are folded and relative to the work tree, with slashes. */
export function scanIndex(index: Buffer, paths: ReadonlySet<string>): IndexScan {
  const version = index.length >= HEADER_BYTES && index.toString('latin1', 0, 4) === 'DIRC' ? index.readUInt32BE(4) : 0;
  if (version < 2 || version > 4) throw new NotAnIndex('has an unknown format');
  try {
    return scan(index, version, SHA1_BYTES, paths);
  } catch (error) {
    if (!(error instanceof NotAnIndex)) throw error;
    // The header does not say which hash the repository uses.
    return scan(index, version, SHA256_BYTES, paths);
  }
}

const HEADER_BYTES = 12;
const SHA1_BYTES = 20;
const SHA256_BYTES = 32;
/** Times, device, inode, mode, owner and size before the hash. */
const STAT_BYTES = 40;
const IS_EXTENDED = 0x4000;
const LENGTH_MASK = 0x0fff;

function scan(index: Buffer, version: number, hashBytes: number, paths: ReadonlySet<string>): IndexScan {
  const end = index.length - hashBytes;
  const tails = new Set([...paths].map((path) => tailOf(Buffer.from(path), Buffer.byteLength(path))));
  const count = index.readUInt32BE(8);
  const name: Name = { bytes: index, start: 0, end: 0 };
  if (version === 4) name.bytes = Buffer.alloc(MAX_NAME_BYTES);
  let isTracked = false;
  let position = HEADER_BYTES;
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = position + STAT_BYTES + hashBytes;
    if (flagsAt + 4 > end) throw new NotAnIndex('ends early');
    const flags = index.readUInt16BE(flagsAt);
    const nameAt = flagsAt + ((flags & IS_EXTENDED) === 0 ? 2 : 4);
    position =
      version === 4
        ? readCompressed(index, nameAt, end, name)
        : readPlain(index, position, nameAt, end, flags & LENGTH_MASK, name);
    isTracked ||= tails.has(tailOf(name.bytes, name.end)) && paths.has(foldPath(textOf(name)));
  }
  return { isTracked, sharedIndex: findSharedIndex(index, position, end, hashBytes) };
}

/** One object is reused for all entries: there may be a million. */
interface Name {
  bytes: Buffer;
  start: number;
  end: number;
}

function textOf({ bytes, start, end }: Name): string {
  return bytes.toString('utf8', start, end);
}

/** The last two bytes in lower case: enough to pass over nearly every entry without decoding it. */
function tailOf(bytes: Buffer, end: number): number {
  if (end < 2) return 0;
  return (((bytes[end - 2] ?? 0) | 0x20) << 8) | ((bytes[end - 1] ?? 0) | 0x20);
}

/** Returns where the next entry begins. */
function readPlain(index: Buffer, entryAt: number, nameAt: number, end: number, length: number, name: Name): number {
  const nameEnd = length === LENGTH_MASK ? index.indexOf(0, nameAt) : nameAt + length;
  // Entries are padded to a multiple of eight bytes, with at least one zero.
  const next = entryAt + ((nameEnd - entryAt + 8) & ~7);
  if (nameEnd < nameAt || next > end || index[nameEnd] !== 0) throw new NotAnIndex('has a name without an end');
  name.start = nameAt;
  name.end = nameEnd;
  return next;
}

const MAX_NAME_BYTES = 1 << 16;

/** Version 4: how many bytes of the name before to drop, then what follows. */
function readCompressed(index: Buffer, nameAt: number, end: number, name: Name): number {
  let position = nameAt;
  let byte = index[position] ?? 0;
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    position += 1;
    byte = index[position] ?? 0;
    dropped = (dropped + 1) * 128 + (byte & 0x7f);
    if (dropped > MAX_NAME_BYTES) throw new NotAnIndex('has a name that cannot be');
  }
  const suffixAt = position + 1;
  const suffixEnd = index.indexOf(0, suffixAt);
  const kept = name.end - dropped;
  const length = kept + suffixEnd - suffixAt;
  if (suffixEnd < suffixAt || suffixEnd >= end || kept < 0 || length > MAX_NAME_BYTES)
    throw new NotAnIndex('has a name that cannot be');
  index.copy(name.bytes, kept, suffixAt, suffixEnd);
  name.end = length;
  return suffixEnd + 1;
}

/** Extensions follow the entries; those whose name begins with a small letter change what the entries mean. */
function findSharedIndex(index: Buffer, start: number, end: number, hashBytes: number): string | undefined {
  let found: string | undefined;
  let position = start;
  while (position < end) {
    if (position + 8 > end) throw new NotAnIndex('has an extension that ends early');
    const name = index.toString('latin1', position, position + 4);
    const dataAt = position + 8;
    position = dataAt + index.readUInt32BE(position + 4);
    if (!/^[A-Z]/.test(name) && name !== 'link' && name !== 'sdir') throw new NotAnIndex('has an unknown extension');
    if (name === 'link') found = index.toString('hex', dataAt, dataAt + hashBytes);
  }
  if (position !== end) throw new NotAnIndex('has an extension that ends late');
  return found === undefined || /^0*$/.test(found) ? undefined : found;
}
