import type { EntryBytes } from '../../src/verification/log-tree.ts';

/** Entries as a page of the store has them: each behind a byte that may be anything. */
export function toEntryBytes(entries: readonly string[]): EntryBytes {
  let end = 0;
  const ends = Uint32Array.from(entries, (entry) => (end += 1 + Buffer.byteLength(entry)));
  return { bytes: Buffer.from(entries.map((entry) => `\u007f${entry}`).join('')), ends };
}
