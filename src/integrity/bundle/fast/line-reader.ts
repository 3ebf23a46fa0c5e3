import { argumentsDefect, MAX_ARGUMENTS_LENGTH } from '../../content-grammar.ts';
import type { Pattern } from './byte-grammar.ts';
import { isDigit, MAX_DIGITS, withDigit, ZERO } from './bytes/digits.ts';
import { readHexBytes } from './bytes/hex-bytes.ts';
import { ROOM, type Sample, Scratch, sampleOf } from './bytes/scratch.ts';
import { decode } from './bytes/utf8-bytes.ts';
import { takesValue } from './canonical-value.ts';
import { Cursor } from './cursor.ts';
import { findKind, KindGuesser } from './guess-kind.ts';
import type { ContentPattern, KindPattern } from './kind-pattern.ts';
import { takesPattern } from './read-pattern.ts';
import { ThoughtReader } from './thought-reader.ts';

const OPEN_OBJECT = 0x7b;

/** What stands around the values of a line. */
const ENTRY = sampleOf('{"entry":"');
const SALT = sampleOf('{"disclosed":{"salt":"');
const TEXT = sampleOf('","text":"');
const TEXT_END = sampleOf('"},"entry":"');
const THOUGHT = sampleOf('","thought":');
const THOUGHT_END = sampleOf('},"entry":"');
const INDEX = sampleOf('","index":');
const END = sampleOf('}\n');

const SALT_BYTES = 16;
/** Where the name of the first field of the content begins. */
const FIRST_KEY_AT = SALT.length + SALT_BYTES * 2 + TEXT.length + '{\\"'.length;

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
  readonly #guesser = new KindGuesser();

  constructor() {
    this.leaf.bytes[0] = LEAF_PREFIX;
  }

  /** Reads the line that begins here and returns its kind; undefined for a line that it does not know. */
  read(file: Scratch, begin: number): KindPattern | undefined {
    this.isDisclosed = !file.has(ENTRY, begin);
    const guessed = this.#guesser.guess(this.isDisclosed ? file.words.getInt32(begin + FIRST_KEY_AT, true) : 0);
    let entryAt = guessed === undefined ? -1 : this.#entryAt(file, begin, guessed);
    if (guessed !== undefined && this.#readsFrom(file, entryAt, guessed)) return this.#guesser.learn(guessed);
    const kind = findKind(file, begin);
    if (kind === undefined) return undefined;
    // A change of a task has the content that a new task has.
    if (entryAt < 0 || kind.content?.pattern !== guessed?.content?.pattern) entryAt = this.#entryAt(file, begin, kind);
    return this.#readsFrom(file, entryAt, kind) ? this.#guesser.learn(kind) : undefined;
  }

  /** Reads what is before the entry. Returns where that begins, or -1. */
  #entryAt(file: Scratch, begin: number, { content, record }: KindPattern): number {
    if (!this.isDisclosed) return begin + ENTRY.length;
    if (content === undefined || !this.#readsContent(file, begin, content)) return -1;
    const { at } = this.#cursor;
    return record?.link === undefined ? behind(file, at, TEXT_END) : this.#readThought(file, at);
  }

  #readsFrom(file: Scratch, entryAt: number, { entry }: KindPattern): boolean {
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
