import { createHash } from 'node:crypto';

export interface IndexOptions {
  readonly version?: 2 | 3 | 4;
  readonly hash?: 'sha1' | 'sha256';
  /** The bytes after the entries: extensions. */
  readonly extensions?: Buffer;
}

/** An index as git writes it, with these files: https://git-scm.com/docs/index-format */
export function writeIndex(paths: readonly string[], options: IndexOptions = {}): Buffer {
  const { version = 2, hash = 'sha1', extensions = Buffer.alloc(0) } = options;
  const header = Buffer.alloc(12);
  header.write('DIRC');
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(paths.length, 8);
  const names = paths.map((path) => Buffer.from(path)).sort((one, other) => one.compare(other));
  const entries = names.map((name, at) => writeEntry(name, names[at - 1] ?? Buffer.alloc(0), version, hash));
  const body = Buffer.concat([header, ...entries, extensions]);
  return Buffer.concat([body, createHash(hash).update(body).digest()]);
}

export function writeExtension(name: string, data: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write(name);
  header.writeUInt32BE(data.length, 4);
  return Buffer.concat([header, data]);
}

function writeEntry(name: Buffer, before: Buffer, version: number, hash: 'sha1' | 'sha256'): Buffer {
  const fixed = Buffer.alloc(40 + (hash === 'sha1' ? 20 : 32), 7);
  const isExtended = version >= 3;
  const flags = Buffer.alloc(isExtended ? 4 : 2);
  flags.writeUInt16BE((isExtended ? 0x4000 : 0) | Math.min(name.length, 0xfff));
  const start = Buffer.concat([fixed, flags]);
  if (version === 4) return Buffer.concat([start, compress(name, before)]);
  const length = start.length + name.length;
  return Buffer.concat([start, name, Buffer.alloc(8 - (length % 8))]);
}

function compress(name: Buffer, before: Buffer): Buffer {
  let common = 0;
  while (common < name.length && common < before.length && name[common] === before[common]) common += 1;
  return Buffer.concat([writeOffset(before.length - common), name.subarray(common), Buffer.alloc(1)]);
}

/** The variable-length numbers of git's packs. */
function writeOffset(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(0x80 | (rest & 0x7f));
  }
  return Buffer.from(bytes);
}
