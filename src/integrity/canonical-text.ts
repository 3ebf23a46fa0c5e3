import { parseJson } from './parse-json.ts';

/** Deep enough for any honest record, shallow enough that no input can exhaust the stack. */
export const MAX_DEPTH = 64;

/**
 * Whether a text is the one canonical text (RFC 8785) of a value that `canonicalize` accepts. Scans the text itself: what
 * an engine's parser makes of unusual keys does not matter, and no value is built.
 */
export function isCanonicalText(text: string): boolean {
  if (!text.isWellFormed()) return false;
  const scanner = new Scanner(text);
  return scanner.value(0) && scanner.at === text.length;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FIRST_PRINTABLE = 0x20;

/** The escapes that JSON.stringify writes; every other character stands for itself. */
const ESCAPE = /\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f]))/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]\d+)?/y;
const LITERALS = ['null', 'true', 'false'];
/** A backslash or a control character; of the latter a canonical text has none, because strings escape them. */
const UNUSUAL = /[^ -[\]-\uffff]/;

class Scanner {
  at = 0;
  readonly #text: string;
  /** Without escapes and control characters a string ends at the next quotation mark. */
  readonly #isPlain: boolean;

  constructor(text: string) {
    this.#text = text;
    this.#isPlain = !UNUSUAL.test(text);
  }

  value(depth: number): boolean {
    switch (this.#text.charCodeAt(this.at)) {
      case QUOTE:
        return this.#string();
      case OPEN_OBJECT:
        return depth < MAX_DEPTH && this.#object(depth);
      case OPEN_LIST:
        return depth < MAX_DEPTH && this.#list(depth);
      default:
        return this.#literal() || this.#number();
    }
  }

  #object(depth: number): boolean {
    this.at += 1;
    if (this.#takes(CLOSE_OBJECT)) return true;
    let previous: string | undefined;
    do {
      const begin = this.at;
      if (!this.#takes(QUOTE, 0) || !this.#string()) return false;
      const key = keyOf(this.#text.slice(begin + 1, this.at - 1));
      if (previous !== undefined && previous >= key) return false;
      previous = key;
      if (!this.#takes(COLON) || !this.value(depth + 1)) return false;
    } while (this.#takes(COMMA));
    return this.#takes(CLOSE_OBJECT);
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
    if (this.#isPlain) {
      const end = this.#text.indexOf('"', this.at + 1);
      this.at = end + 1;
      return end !== -1;
    }
    for (let at = this.at + 1; ; ) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) {
        this.at = at + 1;
        return true;
      }
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = at;
        if (!ESCAPE.test(this.#text)) return false;
        at = ESCAPE.lastIndex;
      } else if (code >= FIRST_PRINTABLE) at += 1;
      // A control character, or the end of the text.
      else return false;
    }
  }

  #number(): boolean {
    NUMBER.lastIndex = this.at;
    const [digits] = NUMBER.exec(this.#text) ?? [];
    if (digits === undefined) return false;
    const value = Number(digits);
    this.at += digits.length;
    return String(value) === digits && (Number.isSafeInteger(value) || !Number.isInteger(value));
  }

  #literal(): boolean {
    const found = LITERALS.find((literal) => this.#text.startsWith(literal, this.at));
    this.at += found?.length ?? 0;
    return found !== undefined;
  }

  #takes(code: number, length = 1): boolean {
    if (this.#text.charCodeAt(this.at) !== code) return false;
    this.at += length;
    return true;
  }
}

/** The name that a key stands for: keys are ordered by their names, not by how these are escaped. */
function keyOf(escaped: string): string {
  return escaped.includes('\\') ? (parseJson(`"${escaped}"`) as string) : escaped;
}
