import { utf8 } from './utf8-bytes.ts';

export const WORD = 4;

/** Behind what is read and written, so many bytes must be there: more than a literal or a time has. */
export const SPARE = 512;

/** Room for what is read from a line. Longer lines are left to the reference. */
export const ROOM = 2 ** 20;
/** From here on nothing more is written. */
export const LIMIT = ROOM - SPARE;

/** Views of this many lengths are kept. */
const MAX_KEPT = 8192;

/** Bytes that are also read and written four at a time. */
export class Scratch {
  readonly bytes: Uint8Array;
  readonly words: DataView;
  readonly #views: Uint8Array[][] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** A part of the bytes. Making a view costs as much as a hash, so those of common lengths are kept. */
  part(begin: number, end: number): Uint8Array {
    const length = end - begin;
    if (length >= MAX_KEPT) return this.bytes.subarray(begin, end);
    this.#views[begin] ??= [];
    const views = this.#views[begin];
    views[length] ??= this.bytes.subarray(begin, end);
    return views[length];
  }

  /** Whether a text stands here. */
  has({ words, last, mask }: Sample, at: number): boolean {
    const own = this.words;
    let next = at;
    for (let place = 0; place < words.length; place += 1) {
      if (own.getInt32(next, true) !== words[place]) return false;
      next += WORD;
    }
    return (own.getInt32(next, true) & mask) === last;
  }
}

/** A text to compare with, four bytes at a time, little end first. */
export interface Sample {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly words: Int32Array;
  /** What is left behind the last four bytes, and the bits of it. */
  readonly last: number;
  readonly mask: number;
}

export function sampleOf(text: string): Sample {
  const bytes = utf8(text);
  const [words, padded] = [Math.floor(bytes.length / WORD), wordsOf(bytes)];
  const mask = 2 ** (8 * (bytes.length % WORD)) - 1;
  return { bytes, length: bytes.length, words: padded.slice(0, words), last: padded[words] ?? 0, mask };
}

/** Zeros stand behind the end. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  const words = Math.ceil(bytes.length / WORD);
  const view = new DataView(new ArrayBuffer(words * WORD));
  bytes.forEach((byte, place) => {
    view.setUint8(place, byte);
  });
  return Int32Array.from({ length: words }, (_, place) => view.getInt32(place * WORD, true));
}
