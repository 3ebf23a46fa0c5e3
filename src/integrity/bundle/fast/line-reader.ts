import { argumentsDefect, MAX_ARGUMENTS_LENGTH } from '../../content-grammar.ts';
import type { Pattern } from './byte-grammar.ts';
import { isDigit, MAX_DIGITS, withDigit, ZERO } from './bytes/digits.ts';
import { readHexBytes } from './bytes/hex-bytes.ts';
import { ROOM, type Sample, Scratch, sampleOf } from './bytes/scratch.ts';
import { decode } from './bytes/utf8-bytes.ts';
import { takesValue } from './canonical-value.ts';
import { Cursor } from './cursor.ts';
import { type ContentPattern, KIND_PATTERNS, type KindPattern } from './kind-pattern.ts';
import { takesPattern } from './read-pattern.ts';
import { ThoughtReader } from './thought-reader.ts';

const LINE_FEED = 0x0a;
const OPEN_OBJECT = 0x7b;

/** What stands around the values of a line. */
const ENTRY = sampleOf('{"entry":"');
const NEXT_ENTRY = sampleOf(',"entry":"');
const SALT = sampleOf('{"disclosed":{"salt":"');
const TEXT = sampleOf('","text":"');
const TEXT_END = sampleOf('"},"entry":"');
const THOUGHT = sampleOf('","thought":');
const THOUGHT_END = sampleOf('},"entry":"');
const INDEX = sampleOf('","index":');
const END = sampleOf('}\n');

const SALT_BYTES = 16;

/** Where a content is written, behind room for a label and the salt. */
const TEXT_AT = 64;
export const SALT_AT = TEXT_AT - SALT_BYTES;
/** RFC 6962, section 2.1. */
const LEAF_PREFIX = 0x00;

/** Reads single lines of a bundle, if these are canonical and of the grammars. */
export class LineReader {
  /** The prefix of a leaf, then the entry that was read last. */
  readonly leaf = new Scratch(new Uint8Array(ROOM));
  leafEnd = 0;
  /** From `SALT_AT` on, the salt and the content that were read last. */
  readonly content = new Scratch(new Uint8Array(ROOM));
  contentEnd = 0;
  isDisclosed = false;
  readonly thoughts = new ThoughtReader();
  index = 0;
  /** The place of the line feed. */
  end = 0;
  readonly #cursor = new Cursor();
  /** For each kind, the one that followed it last. */
  readonly #followers = new Map<KindPattern | undefined, KindPattern>();
  #last: KindPattern | undefined;

  constructor() {
    this.leaf.bytes[0] = LEAF_PREFIX;
  }

  /** Reads the line that begins here and returns its kind; undefined for a line that it does not know. */
  read(file: Scratch, begin: number): KindPattern | undefined {
    this.isDisclosed = !file.has(ENTRY, begin);
    const expected = this.#followers.get(this.#last);
    const isExpected = expected !== undefined && this.#readsLine(file, begin, expected);
    const kind = isExpected ? expected : this.#findKind(file, begin);
    if (kind === undefined || (!isExpected && !this.#readsLine(file, begin, kind))) return undefined;
    if (!isExpected) this.#followers.set(this.#last, kind);
    this.#last = kind;
    return kind;
  }

  /** Finds the entry first: content comes before the entry that names the kind. */
  #findKind(file: Scratch, begin: number): KindPattern | undefined {
    const entryAt = this.isDisclosed ? findEntry(file, begin) : begin + ENTRY.length;
    return KIND_PATTERNS.find(({ entry }) => entryAt >= 0 && this.#readsEntry(file, entryAt, entry));
  }

  #readsLine(file: Scratch, begin: number, { entry, content, record }: KindPattern): boolean {
    let entryAt = begin + ENTRY.length;
    if (this.isDisclosed) {
      if (content === undefined || !this.#readsContent(file, begin, content)) return false;
      const { at } = this.#cursor;
      entryAt = record?.link === undefined ? behind(file, at, TEXT_END) : this.#readThought(file, at);
    }
    return entryAt >= 0 && this.#readsEntry(file, entryAt, entry) && this.#readsEnd(file);
  }

  #readsContent(file: Scratch, begin: number, { pattern }: ContentPattern): boolean {
    const saltAt = begin + SALT.length;
    const saltEnd = saltAt + SALT_BYTES * 2;
    if (!file.has(SALT, begin) || !file.has(TEXT, saltEnd)) return false;
    if (!readHexBytes(file.bytes, saltAt, this.content.bytes, SALT_AT, SALT_BYTES)) return false;
    const cursor = this.#cursor;
    cursor.start(file, saltEnd + TEXT.length, this.content, TEXT_AT);
    if (!(pattern === undefined ? this.#readsArguments() : takesPattern(cursor, pattern))) return false;
    this.contentEnd = cursor.to;
    return true;
  }

  #readsArguments(): boolean {
    const cursor = this.#cursor;
    if (!takesValue(cursor, 0)) return false;
    const { bytes } = this.content;
    const isShort = cursor.to - TEXT_AT <= MAX_ARGUMENTS_LENGTH;
    return isShort ? bytes[TEXT_AT] === OPEN_OBJECT : argumentsDefect(decode(bytes, TEXT_AT, cursor.to)) === undefined;
  }

  #readThought(file: Scratch, at: number): number {
    const begin = behind(file, at, THOUGHT);
    const end = begin < 0 ? -1 : this.thoughts.read(file, begin);
    return end < 0 ? -1 : behind(file, end, THOUGHT_END);
  }

  #readsEntry(file: Scratch, at: number, entry: Pattern): boolean {
    const cursor = this.#cursor;
    cursor.start(file, at, this.leaf, 1);
    if (!takesPattern(cursor, entry)) return false;
    this.leafEnd = cursor.to;
    return true;
  }

  /** Reads what is behind an entry. */
  #readsEnd(file: Scratch): boolean {
    const { bytes } = file;
    const begin = behind(file, this.#cursor.at, INDEX);
    if (begin < 0) return false;
    let end = begin;
    let value = 0;
    for (let byte = bytes[end] as number; isDigit(byte); byte = bytes[end] as number) {
      value = withDigit(value, byte);
      end += 1;
    }
    const digits = end - begin;
    this.index = value;
    this.end = end + END.length - 1;
    return digits > 0 && digits <= MAX_DIGITS && (digits === 1 || bytes[begin] !== ZERO) && file.has(END, end);
  }
}

/** The place behind a text that stands here; -1 if it does not. */
function behind(file: Scratch, at: number, text: Sample): number {
  return file.has(text, at) ? at + text.length : -1;
}

/**
 * Where the text of the entry begins that follows on content; -1 if there is none. A string contains no quotation mark
 * that is not escaped, so the key is found nowhere else in a canonical line. In any other line, reading fails.
 */
function findEntry(file: Scratch, begin: number): number {
  const end = file.bytes.indexOf(LINE_FEED, begin);
  for (let at = end - NEXT_ENTRY.length; at > begin; at -= 1)
    if (file.has(NEXT_ENTRY, at)) return at + NEXT_ENTRY.length;
  return -1;
}
