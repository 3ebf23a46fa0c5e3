import { isTime, isUuid } from './forms.ts';
import { isDigest } from './merkle.ts';
import { isOutcome } from './outcomes.ts';
import type { Digest } from './sha256.ts';

/**
 * The most frequent entries, read from and compared with their canonical texts without building an object. A value is
 * given as it stands in the text: digits for a number, JSON escapes for a string. The texts may be Latin-1 strings of
 * UTF-8 bytes.
 */

export interface EnterText {
  readonly actor: string;
  /** 64 characters that the caller must compare with the digest of the arguments. */
  readonly digest: Digest;
}

export interface ExitText {
  readonly actor: string;
  readonly sequence_no: string;
}

/** Reads the text of an enter entry; undefined unless the text is canonical and conforms to the grammar. */
export function readEnter(text: string): EnterText | undefined {
  const cursor = new TextCursor(text);
  const actor = cursor.skip('{"actor":"') ? cursor.string() : undefined;
  if (!cursor.skip('","arguments":"')) return undefined;
  const digest = cursor.take(DIGEST_DIGITS);
  const at = cursor.skip('","at":"') ? cursor.take(TIME_LENGTH) : '';
  const processId = cursor.skip('","kind":"action.enter","process_id":"') ? cursor.take(UUID_LENGTH) : '';
  const tool = cursor.skip('","tool":"') ? cursor.string() : undefined;
  if (actor === undefined || tool === undefined || !cursor.ends('","v":1}')) return undefined;
  return isTime(at) && isUuid(processId) ? { actor, digest } : undefined;
}

/** Reads the text of an exit entry; undefined unless the text is canonical and conforms to the grammar. */
export function readExit(text: string): ExitText | undefined {
  const cursor = new TextCursor(text);
  const actor = cursor.skip('{"actor":"') ? cursor.string() : undefined;
  if (!cursor.skip('","answer":"')) return undefined;
  const answer = cursor.take(DIGEST_DIGITS);
  const at = cursor.skip('","at":"') ? cursor.take(TIME_LENGTH) : '';
  const duration = cursor.skip('","duration_ms":') ? cursor.digits() : undefined;
  const outcome = cursor.skip(',"kind":"action.exit","outcome":"') ? cursor.string() : undefined;
  const sequence_no = cursor.skip('","sequence_no":') ? cursor.digits() : undefined;
  if (actor === undefined || duration === undefined || sequence_no === undefined) return undefined;
  if (sequence_no === '0' || !cursor.ends(',"v":1}')) return undefined;
  return isDigest(answer) && isTime(at) && isOutcome(outcome) ? { actor, sequence_no } : undefined;
}

const DIGEST_DIGITS = 64;
const TIME_LENGTH = '2026-04-08T22:15:30.000Z'.length;
const UUID_LENGTH = '00000000-0000-4000-8000-000000000000'.length;
/** More digits may not be exact as a number. */
const MAX_DIGITS = 15;
const ZERO = 0x30;

/** A string in which JSON escapes nothing. */
const PLAIN = /^[^\\\p{Cc}]*$/u;
/** The text of a string in canonical JSON, in which each character has one form. */
const ESCAPED = /(?:[ !#-[\]-\uffff]|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*/y;

/** Reads a text from left to right. After a failed `skip` every other call fails as well. */
class TextCursor {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns false, and fails the cursor, unless the text continues with the literal. */
  skip(literal: string): boolean {
    if (!this.#text.startsWith(literal, this.#at)) {
      this.#at = FAILED;
      return false;
    }
    this.#at += literal.length;
    return true;
  }

  take(length: number): string {
    const taken = this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  digits(): string | undefined {
    const begin = this.#at;
    let end = begin;
    for (let code = this.#text.charCodeAt(end); code >= ZERO && code <= ZERO + 9; code = this.#text.charCodeAt(end))
      end += 1;
    const length = end - begin;
    if (length === 0 || length > MAX_DIGITS || (length > 1 && this.#text.charCodeAt(begin) === ZERO)) return undefined;
    return this.take(length);
  }

  /** The escaped text up to the closing quotation mark. */
  string(): string | undefined {
    const end = this.#text.indexOf('"', this.#at);
    const plain = this.#text.slice(this.#at, end);
    if (end !== -1 && (plain === lastPlain || PLAIN.test(plain))) {
      lastPlain = plain;
      return this.take(plain.length);
    }
    ESCAPED.lastIndex = this.#at;
    return this.take(ESCAPED.exec(this.#text)?.[0].length ?? 0);
  }

  ends(literal: string): boolean {
    return this.skip(literal) && this.#at === this.#text.length;
  }
}

const FAILED = Number.MAX_SAFE_INTEGER;

/** Consecutive entries mostly have the same actor. */
let lastPlain = '';

export interface ThoughtFields {
  readonly actor: string;
  readonly at: string;
  readonly attempt: string;
  readonly chain_position: string;
  readonly hash: Digest;
  readonly session_id: string;
  readonly session_seq: string;
  readonly task_id: string;
  readonly thought_id: string;
}

/**
 * The 64 characters in the place of the digest of the extras, for the caller to compare with that digest; undefined
 * unless the rest of the text is the entry of exactly these fields.
 */
export function findExtras(text: string, entry: ThoughtFields): Digest | undefined {
  const head = `{"actor":"${entry.actor}","at":"${entry.at}","attempt":${entry.attempt},"chain_position":${entry.chain_position},"extras":"`;
  const rest = `","hash":"${entry.hash}","kind":"thought","session_id":"${entry.session_id}","session_seq":${entry.session_seq},"task_id":"${entry.task_id}","thought_id":"${entry.thought_id}","v":1}`;
  if (text.length !== head.length + DIGEST_DIGITS + rest.length) return undefined;
  if (!text.startsWith(head) || !text.endsWith(rest)) return undefined;
  return text.slice(head.length, head.length + DIGEST_DIGITS);
}

export interface ChainedFields {
  readonly task_id: string;
  readonly type: string;
  readonly content: string;
  readonly previous_hash: Digest | null;
  readonly recorded_at: string;
  readonly recorded_by: string;
}

/** The text that the hash of a thought covers. */
export function chainedText(thought: ChainedFields): string {
  const previous = thought.previous_hash === null ? 'null' : `"${thought.previous_hash}"`;
  return `{"task_id":"${thought.task_id}","type":"${thought.type}","content":"${thought.content}","previous_hash":${previous},"recorded_at":"${thought.recorded_at}","recorded_by":"${thought.recorded_by}"}`;
}
