import { canonicalize, type Json } from './canonical-json.ts';
import { isCanonicalText } from './canonical-text.ts';
import { readHex } from './hex.ts';
import { parseJson } from './parse-json.ts';
import { type Digest, sha256 } from './sha256.ts';

/** One entry of the log. Its position is the index of its leaf and not a field. */
export interface Entry {
  readonly v: 1;
  readonly kind: EntryKind;
  readonly at: string;
  readonly actor: string;
  readonly [field: string]: Json;
}

export const ENTRY_KINDS = [
  'genesis',
  'action.enter',
  'action.exit',
  'action.interrupted',
  'task.created',
  'task.updated',
  'session.started',
  'thought',
  'session.finalized',
  'project.options',
  'key.added',
  'redaction',
  'observed',
  'observed.commit',
  'observed.coverage',
  'observed.usage',
] as const;

export type EntryKind = (typeof ENTRY_KINDS)[number];

export function encodeEntry(entry: Entry): string {
  return canonicalize(entry);
}

/** Parses a stored entry; undefined unless the text is the canonical text of an entry. */
export function parseEntry(text: string): Entry | undefined {
  if (typeof text !== 'string' || !isCanonicalText(text)) return undefined;
  const value = parseJson(text);
  return isEntry(value) ? value : undefined;
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const entry = value as Partial<Record<string, unknown>>;
  return (
    entry['v'] === 1 &&
    typeof entry['kind'] === 'string' &&
    typeof entry['at'] === 'string' &&
    typeof entry['actor'] === 'string'
  );
}

/**
 * Domain separation: a digest of one field cannot pass for a digest of another. The last three are of what a client or
 * git reported: its input, its output, and the readable part of both.
 */
export const DIGEST_LABELS = [
  'arguments',
  'answer',
  'task',
  'session',
  'extras',
  'options',
  'redaction',
  'observed-input',
  'observed-output',
  'observed-content',
] as const;

export type DigestLabel = (typeof DIGEST_LABELS)[number];

/** 16 random bytes in hexadecimal: without them short content could be guessed. */
export type Salt = string;

const encoder = new TextEncoder();
const SALT_BYTES = 16;

/** A buffer with the label in it, reused because an allocation costs more than the hash. */
class Preimage {
  readonly #head: Uint8Array;
  #bytes: Uint8Array;
  #text: Uint8Array;

  constructor(label: DigestLabel) {
    this.#head = encoder.encode(`colibri:${label}:v1\n`);
    [this.#bytes, this.#text] = this.#allocate(4096);
  }

  /** Returns undefined if the salt is malformed. */
  digest(salt: Salt, text: string): Digest | undefined {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    if (text.length * 3 > this.#text.length) [this.#bytes, this.#text] = this.#allocate(text.length * 3);
    if (salt.length !== SALT_BYTES * 2 || !readHex(salt, 0, this.#bytes, this.#head.length, SALT_BYTES))
      return undefined;
    const { written } = encoder.encodeInto(text, this.#text);
    return sha256(this.#bytes.subarray(0, this.#head.length + SALT_BYTES + written));
  }

  /** The same for a text in UTF-8 within `bytes`, whose salt is within `texts`. Overwrites bytes before the text. */
  digestInPlace(bytes: Uint8Array, begin: number, end: number, texts: string, saltAt: number): Digest | undefined {
    const saltBegin = begin - SALT_BYTES;
    const start = saltBegin - this.#head.length;
    if (start < 0 || !readHex(texts, saltAt, bytes, saltBegin, SALT_BYTES)) return undefined;
    for (let byte = 0; byte < this.#head.length; byte += 1) bytes[start + byte] = this.#head[byte] as number;
    return sha256(new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start));
  }

  #allocate(textBytes: number): [bytes: Uint8Array, text: Uint8Array] {
    const start = this.#head.length + SALT_BYTES;
    const bytes = new Uint8Array(start + textBytes);
    bytes.set(this.#head);
    return [bytes, bytes.subarray(start)];
  }
}

const PREIMAGES = Object.fromEntries(DIGEST_LABELS.map((label) => [label, new Preimage(label)])) as Readonly<
  Record<DigestLabel, Preimage>
>;

/** SHA-256( "colibri:" label ":v1" LF, the 16 bytes of the salt, the text in UTF-8 ). */
export function saltedDigest(label: DigestLabel, salt: Salt, text: string): Digest {
  // The encoder replaces lone surrogates, which would give two texts one digest.
  if (!text.isWellFormed()) throw new RangeError('the text contains half of a surrogate pair');
  const digest = PREIMAGES[label].digest(salt, text);
  if (digest === undefined) throw new RangeError(`not ${SALT_BYTES * 2} lower-case hexadecimal digits`);
  return digest;
}

/** The digest of a stored row's content; undefined if the row contains something that no server stores. */
export function storedDigest(label: DigestLabel, salt: unknown, text: unknown): Digest | undefined {
  if (typeof salt !== 'string' || typeof text !== 'string' || !text.isWellFormed()) return undefined;
  return PREIMAGES[label].digest(salt, text);
}

/**
 * The same for a row among others, whose text lies between two offsets of `bytes`. The salt is in `texts`, which has
 * the same bytes as Latin-1. Overwrites bytes before the text; undefined also if there are too few of them.
 */
export function storedDigestInPlace(
  label: DigestLabel,
  bytes: Uint8Array,
  texts: string,
  { saltAt, begin, end }: { readonly saltAt: number; readonly begin: number; readonly end: number },
): Digest | undefined {
  return PREIMAGES[label].digestInPlace(bytes, begin, end, texts, saltAt);
}
