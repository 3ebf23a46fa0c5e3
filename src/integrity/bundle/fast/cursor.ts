import type { Literal } from './byte-grammar.ts';
import { Scratch, WORD } from './bytes/scratch.ts';
import { copyInnerString, type StringCopy } from './bytes/string-copy.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NOTHING = new Scratch(new Uint8Array(0));

/**
 * A place in JSON that stands inside a string of JSON, and the place where the bytes are written that it stands for.
 * What is taken is written; what is not there is not taken. The line feed at the end of a line is never taken.
 */
export class Cursor {
  source = NOTHING;
  at = 0;
  target = NOTHING;
  to = 0;
  /** About the string that was taken last. */
  readonly text: StringCopy = { at: 0, to: 0, seen: 0, extra: 0 };

  start(source: Scratch, at: number, target: Scratch, to: number): void {
    this.source = source;
    this.at = at;
    this.target = target;
    this.to = to;
  }

  takes({ escaped, plainWords, plainLength }: Literal): boolean {
    if (!this.source.has(escaped, this.at)) return false;
    const { words } = this.target;
    // Writes up to three bytes more, which the next that is taken overwrites.
    for (let place = 0, to = this.to; place < plainWords.length; place += 1, to += WORD)
      words.setInt32(to, plainWords[place] as number, true);
    this.at += escaped.length;
    this.to += plainLength;
    return true;
  }

  /** Returns the place in the list of the one that is taken, or -1. */
  takesOneOf(literals: readonly Literal[]): number {
    for (let place = 0; place < literals.length; place += 1) if (this.takes(literals[place] as Literal)) return place;
    return -1;
  }

  takesByte(byte: number): boolean {
    if (this.source.bytes[this.at] !== byte) return false;
    this.target.bytes[this.to] = byte;
    this.at += 1;
    this.to += 1;
    return true;
  }

  takesQuote(): boolean {
    const { bytes } = this.source;
    if (bytes[this.at] !== BACKSLASH || bytes[this.at + 1] !== QUOTE) return false;
    this.target.bytes[this.to] = QUOTE;
    this.at += 2;
    this.to += 1;
    return true;
  }

  takesString(): boolean {
    if (!this.takesQuote()) return false;
    const { text } = this;
    text.at = this.at;
    text.to = this.to;
    if (!copyInnerString(this.source, this.target, text)) return false;
    this.at = text.at;
    this.to = text.to;
    return this.takesQuote();
  }
}
