import { type Digest, type RawDigest, sha256, toHex } from '../integrity/index.ts';
import { BLOCK } from './stored-tree.ts';

/**
 * A running hash over the leaves that have no stored node above them yet, kept in the head. Without it, an edit of one
 * of the newest entries would show only if a table repeats the edited field.
 */
export function nextTail(tail: string, leaf: Digest, size: number): string {
  return size % BLOCK === 0 ? '' : sha256(tail + leaf);
}

/** The tail of a log of a known size, leaf by leaf: only those behind the last full block count. */
export class Tail {
  value = '';
  #added = 0;
  readonly #begin: number;

  constructor(size: number) {
    this.#begin = size - (size % BLOCK);
  }

  add(leaf: RawDigest): void {
    this.#added += 1;
    if (this.#added > this.#begin) this.value = nextTail(this.value, toHex(leaf), this.#added);
  }
}
