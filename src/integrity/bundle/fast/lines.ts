import { BadFormat } from '../../bad-format.ts';
import { decodeUtf8 } from '../utf8.ts';
import { Scratch, SPARE } from './bytes/scratch.ts';

const LINE_FEED = 0x0a;

/** The lines of a file, one after the other. */
export class Lines {
  readonly file: Uint8Array;
  /** Where the next line begins. */
  begin = 0;
  /** Bytes in which the next line stands at `place`, and `SPARE` bytes behind it: the file, or a copy of its end. */
  source: Scratch;
  #shift = 0;
  readonly #tailAt: number;

  constructor(file: Uint8Array) {
    this.file = file;
    this.source = new Scratch(file);
    // A negative place would be counted from the end.
    this.#tailAt = file.lastIndexOf(LINE_FEED, Math.max(0, file.length - SPARE)) + 1;
  }

  get place(): number {
    return this.begin - this.#shift;
  }

  hasMore(): boolean {
    return this.begin < this.file.length;
  }

  /** Reads the next line. Throws `BadFormat` if there is none, or if it is not UTF-8. */
  readText(): string {
    const end = this.file.indexOf(LINE_FEED, this.begin);
    if (end < 0) throw new BadFormat('the last line of a bundle ends with a line feed');
    const text = decodeUtf8(this.file.subarray(this.begin, end), 'the file');
    this.#goTo(end + 1);
    return text;
  }

  /** Goes on behind a line feed in the source. */
  skipTo(lineFeed: number): void {
    this.#goTo(lineFeed + this.#shift + 1);
  }

  #goTo(begin: number): void {
    this.begin = begin;
    if (this.#shift > 0 || begin < this.#tailAt) return;
    const tail = new Uint8Array(this.file.length - begin + SPARE);
    tail.set(this.file.subarray(begin));
    this.source = new Scratch(tail);
    this.#shift = begin;
  }
}
