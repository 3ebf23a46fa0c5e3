import { BadFormat } from '../bad-format.ts';
import { decodeUtf8 } from '../bundle/utf8.ts';

/** The part of CBOR that a COSE receipt needs, in the deterministic encoding of RFC 8949 section 4.2. */
export type Cbor = number | string | Uint8Array | null | readonly Cbor[] | CborMap;
export type CborMap = ReadonlyMap<number, Cbor>;

/** Five levels are in use. */
const MAX_DEPTH = 8;

const UNSIGNED = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const LIST = 4;
const MAP = 5;
const SIMPLE = 7;
const NULL = 22;

const encoder = new TextEncoder();

export function encodeCbor(value: Cbor): Uint8Array {
  if (value === null) return head(SIMPLE, NULL);
  if (typeof value === 'number') return encodeInteger(value);
  if (typeof value === 'string') return encodeText(value);
  if (value instanceof Uint8Array) return joinBytes([head(BYTES, value.length), value]);
  if (isList(value)) return joinBytes([head(LIST, value.length), ...value.map(encodeCbor)]);
  const pairs = [...value].map(([key, item]) => ({ key: encodeInteger(key), item: encodeCbor(item) }));
  pairs.sort((left, right) => compareBytes(left.key, right.key));
  return joinBytes([head(MAP, value.size), ...pairs.flatMap(({ key, item }) => [key, item])]);
}

/** Refuses every encoding that `encodeCbor` does not write: one value has one encoding. */
export function decodeCbor(bytes: Uint8Array): Cbor {
  const source = new Source(bytes);
  const value = source.readValue(MAX_DEPTH);
  if (!source.isAtEnd) throw new BadFormat('there are bytes after the end of the CBOR value');
  return value;
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

export function isList(value: Cbor): value is readonly Cbor[] {
  return Array.isArray(value);
}

function encodeInteger(value: number): Uint8Array {
  // -2^53 + 1 is -1 - (2^53 - 2): both halves stay exact.
  if (!Number.isSafeInteger(value)) throw new RangeError('CBOR integers go up to 2^53 - 1 here');
  return value < 0 ? head(NEGATIVE, -1 - value) : head(UNSIGNED, value);
}

function encodeText(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new RangeError('half of a surrogate pair has no UTF-8');
  const bytes = encoder.encode(text);
  return joinBytes([head(TEXT, bytes.length), bytes]);
}

/** The major type and its argument, in as few bytes as possible. */
function head(major: number, argument: number): Uint8Array {
  const width = argument < 24 ? 0 : argument < 0x100 ? 1 : argument < 0x1_0000 ? 2 : argument < 0x1_0000_0000 ? 4 : 8;
  const bytes = new Uint8Array(1 + width);
  bytes[0] = (major << 5) | (width === 0 ? argument : 24 + Math.log2(width));
  for (let place = width, rest = argument; place > 0; place -= 1, rest = Math.floor(rest / 256))
    bytes[place] = rest % 256;
  return bytes;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  for (let place = 0; place < left.length && place < right.length; place += 1) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

class Source {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  readValue(depth: number): Cbor {
    if (depth === 0) throw new BadFormat(`CBOR values are nested at most ${MAX_DEPTH} deep here`);
    const { major, argument } = this.#readHead();
    switch (major) {
      case UNSIGNED:
        return argument;
      case NEGATIVE:
        return toNegative(argument);
      case BYTES:
        return this.#take(argument).slice();
      case TEXT:
        return decodeUtf8(this.#take(argument), 'a CBOR text');
      case LIST:
        return this.#readList(argument, depth);
      case MAP:
        return this.#readMap(argument, depth);
      case SIMPLE:
        if (argument === NULL) return null;
        throw new BadFormat('a CBOR value is neither a number, a text, bytes, a list, a map nor null');
      default:
        throw new BadFormat('a CBOR value has an unexpected tag');
    }
  }

  #readHead(): { major: number; argument: number } {
    const [first = 0] = this.#take(1);
    const major = first >> 5;
    const info = first & 31;
    if (info < 24) return { major, argument: info };
    if (major === SIMPLE) throw new BadFormat('a CBOR value is a floating-point number, or simple and unknown');
    if (info > 27) throw new BadFormat('a CBOR value has an indefinite or reserved length');
    const argument = this.#take(2 ** (info - 24)).reduce((value, byte) => value * 256 + byte, 0);
    if (!Number.isSafeInteger(argument)) throw new BadFormat('a CBOR number is above 2^53 - 1');
    if (head(major, argument).length !== 1 + 2 ** (info - 24))
      throw new BadFormat('a CBOR number or length is not in its shortest form');
    return { major, argument };
  }

  #readList(length: number, depth: number): Cbor[] {
    const items: Cbor[] = [];
    // A length that the bytes cannot hold ends at their end, without memory for it.
    for (let place = 0; place < length; place += 1) items.push(this.readValue(depth - 1));
    return items;
  }

  #readMap(length: number, depth: number): CborMap {
    const map = new Map<number, Cbor>();
    let last: Uint8Array | undefined;
    for (let place = 0; place < length; place += 1) {
      const begin = this.#offset;
      const key = this.readValue(depth - 1);
      if (typeof key !== 'number') throw new BadFormat('a key of a CBOR map is not a number');
      const encoded = this.#bytes.subarray(begin, this.#offset);
      if (last !== undefined && compareBytes(last, encoded) >= 0)
        throw new BadFormat('the keys of a CBOR map are not in order, or appear twice');
      last = encoded;
      map.set(key, this.readValue(depth - 1));
    }
    return map;
  }

  #take(length: number): Uint8Array {
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new BadFormat('the CBOR value is cut off');
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }
}

function toNegative(argument: number): number {
  const value = -1 - argument;
  if (!Number.isSafeInteger(value)) throw new BadFormat('a CBOR number is below -2^53 + 1');
  return value;
}
