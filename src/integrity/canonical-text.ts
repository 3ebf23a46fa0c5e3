import { parseJson } from './parse-json.ts';

/** Deep enough for any honest record, shallow enough that no input can exhaust the stack. */
export const MAX_DEPTH = 64;

/**
 * Whether a text is the one canonical text (RFC 8785) of a value that `canonicalize` accepts. Scans the text itself:
 * what an engine's parser makes of unusual keys does not matter, and no value is built.
 */
export function isCanonicalText(text: string): boolean {
  return text.isWellFormed() && isCanonicalPart(text, 0, text.length);
}

/** The same for a part of a well-formed text, behind which a control character or nothing follows. */
export function isCanonicalPart(text: string, begin: number, end: number): boolean {
  const hasEscapes = endOf(PLAIN, text, begin) < end;
  // Strings escape control characters, and nothing else may contain one.
  if (hasEscapes && endOf(NO_CONTROLS, text, begin) < end) return false;
  const scanner = new Scanner(text, { begin, end, hasEscapes });
  return scanner.value(0) && scanner.at === end;
}

/** Where a match that starts at an offset ends. */
function endOf(pattern: RegExp, text: string, begin: number): number {
  pattern.lastIndex = begin;
  pattern.test(text);
  return pattern.lastIndex;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const LETTER_E = 0x65;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const NO_CONTROLS = /[ -\uffff]*/y;
const PLAIN = /[ -[\]-\uffff]*/y;
/** Of escapes those that JSON.stringify writes. Few at a time, because the engine keeps a way back for each. */
const IN_STRING = /[^"\\]*(?:\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f]))[^"\\]*){0,500}/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]\d+)?/y;
/** So few that a number keeps them all. */
const MAX_DIGITS = 15;

class Scanner {
  at: number;
  readonly #text: string;
  readonly #end: number;
  /** Without escapes a string ends at the next quotation mark. */
  readonly #hasEscapes: boolean;

  constructor(
    text: string,
    { begin, end, hasEscapes }: { readonly begin: number; readonly end: number; readonly hasEscapes: boolean },
  ) {
    this.#text = text;
    this.at = begin;
    this.#end = end;
    this.#hasEscapes = hasEscapes;
  }

  value(depth: number): boolean {
    switch (this.#text.charCodeAt(this.at)) {
      case QUOTE:
        return this.#string();
      case OPEN_OBJECT:
        return depth < MAX_DEPTH && this.#object(depth);
      case OPEN_LIST:
        return depth < MAX_DEPTH && this.#list(depth);
      case LETTER_N:
        return this.#literal('null');
      case LETTER_T:
        return this.#literal('true');
      case LETTER_F:
        return this.#literal('false');
      default:
        return this.#shortNumber() || this.#number();
    }
  }

  #object(depth: number): boolean {
    this.at += 1;
    if (this.#takes(CLOSE_OBJECT)) return true;
    let previous: string | undefined;
    do {
      const begin = this.at;
      if (!this.#takes(QUOTE, 0) || !this.#string()) return false;
      const key = this.#key(begin + 1, this.at - 1);
      if (previous !== undefined && previous >= key) return false;
      previous = key;
      if (!this.#takes(COLON) || !this.value(depth + 1)) return false;
    } while (this.#takes(COMMA));
    return this.#takes(CLOSE_OBJECT);
  }

  /** The name that a key stands for: keys are ordered by their names, not by how these are escaped. */
  #key(begin: number, end: number): string {
    const escaped = this.#text.slice(begin, end);
    return this.#hasEscapes && escaped.includes('\\') ? (parseJson(`"${escaped}"`) as string) : escaped;
  }

  #list(depth: number): boolean {
    this.at += 1;
    if (this.#takes(CLOSE_LIST)) return true;
    do {
      if (!this.value(depth + 1)) return false;
    } while (this.#takes(COMMA));
    return this.#takes(CLOSE_LIST);
  }

  #string(): boolean {
    if (!this.#hasEscapes) {
      const end = this.#text.indexOf('"', this.at + 1);
      this.at = end + 1;
      return end !== -1 && end < this.#end;
    }
    for (let at = this.at + 1; ; ) {
      IN_STRING.lastIndex = at;
      IN_STRING.test(this.#text);
      const end = IN_STRING.lastIndex;
      if (this.#text.charCodeAt(end) === QUOTE) {
        this.at = end + 1;
        return end < this.#end;
      }
      // Another escape, or the end of the text.
      if (end === at) return false;
      at = end;
    }
  }

  /** Most numbers are a few digits. No text has to be made of these. */
  #shortNumber(): boolean {
    let end = this.at;
    let code = this.#text.charCodeAt(end);
    const first = code;
    while (code >= ZERO && code <= NINE) {
      end += 1;
      code = this.#text.charCodeAt(end);
    }
    const digits = end - this.at;
    if (digits === 0 || digits > MAX_DIGITS || (digits > 1 && first === ZERO)) return false;
    if (code === POINT || code === LETTER_E) return false;
    this.at = end;
    return true;
  }

  #number(): boolean {
    NUMBER.lastIndex = this.at;
    const [digits] = NUMBER.exec(this.#text) ?? [];
    if (digits === undefined) return false;
    const value = Number(digits);
    this.at += digits.length;
    return String(value) === digits && (Number.isSafeInteger(value) || !Number.isInteger(value));
  }

  #literal(literal: string): boolean {
    if (!this.#text.startsWith(literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  #takes(code: number, length = 1): boolean {
    if (this.#text.charCodeAt(this.at) !== code) return false;
    this.at += length;
    return true;
  }
}
