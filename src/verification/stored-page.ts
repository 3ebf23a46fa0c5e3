import type { Latin1Text } from './latin1-text.ts';
import type { EntryBytes } from './log-tree.ts';

/** Consecutive entries as they are stored, from `begin` on. */
export interface StoredTexts extends EntryBytes {
  readonly begin: number;
  readonly texts: readonly Latin1Text[];
}

/** Ends early at an entry that is missing or stored twice. */
export interface StoredPage extends StoredTexts {
  /** True if the rows were read as one value. */
  readonly isPacked: boolean;
  /** Why the page ends early. */
  readonly end?: { readonly index: number; readonly problem: string };
}

/** A DEL between packed values: JSON does not escape it, and it is rare in text. */
export const SEPARATOR = '\u007f';

/** Where each text ends when one spare byte stands before it. */
export function endsOf(texts: readonly Latin1Text[]): Uint32Array {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let offset = 0; offset < ends.length; offset += 1) {
    end += 1 + (texts[offset] as Latin1Text).length;
    ends[offset] = end;
  }
  return ends;
}
