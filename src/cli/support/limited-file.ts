import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1024 ** 2;

/**
 * Reads a file, a pipe or a device; 0 is standard input. Returns more than `maxBytes` if there is more, and does not
 * read all of it: a pipe does not tell its size, and a device may have no end.
 */
export function readLimited(file: string | 0, maxBytes: number): Buffer {
  if (file === 0) return readOpen(0, maxBytes);
  const descriptor = openSync(file, 'r');
  try {
    return readOpen(descriptor, maxBytes);
  } finally {
    closeSync(descriptor);
  }
}

function readOpen(descriptor: number, maxBytes: number): Buffer {
  const stats = fstatSync(descriptor);
  return stats.isFile() && stats.size <= maxBytes ? readFileSync(descriptor) : readStream(descriptor, maxBytes);
}

function readStream(descriptor: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let total = 0; total <= maxBytes; ) {
    const length = readSync(descriptor, chunk);
    if (length === 0) break;
    // A copy, because a pipe returns far less than a chunk at once.
    chunks.push(Buffer.from(chunk.subarray(0, length)));
    total += length;
  }
  return Buffer.concat(chunks);
}
