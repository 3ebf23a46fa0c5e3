import { canonicalize, type Json } from './canonical-json.ts';
import { writeHex } from './hex.ts';
import { type Digest, sha256 } from './sha256.ts';

/** What one line of the log says. Its place in the log is the index of its leaf, never a field of its own. */
export interface Entry {
  readonly v: 1;
  readonly kind: EntryKind;
  readonly at: string;
  readonly actor: string;
  readonly [field: string]: Json;
}

export type EntryKind =
  | 'genesis'
  | 'action.enter'
  | 'action.exit'
  | 'action.interrupted'
  | 'task.created'
  | 'task.updated'
  | 'session.started'
  | 'thought'
  | 'session.finalized';

export function encodeEntry(entry: Entry): string {
  return canonicalize(entry);
}

/** Reads a stored entry back; undefined when the text is not the one canonical text of an entry. */
export function parseEntry(text: string): Entry | undefined {
  if (typeof text !== 'string') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (!isCanonical(value, text)) return undefined;
  } catch {
    return undefined;
  }
  return isEntry(value) ? value : undefined;
}

/** Most texts come back unchanged from JSON.stringify, which is several times faster than writing them again. */
function isCanonical(value: unknown, text: string): boolean {
  const isQuick = isSorted(value) && !text.includes('\\ud') && JSON.stringify(value) === text;
  return isQuick || canonicalize(value) === text;
}

/** Nothing in it that canonical JSON would write otherwise than JSON.stringify, lone surrogates apart. */
function isSorted(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isSorted);
  let previous = '';
  for (const [key, member] of Object.entries(value)) {
    if (key < previous || !isSorted(member)) return false;
    previous = key;
  }
  return true;
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

/** Keeps a digest of one field from being passed off as a digest of another. */
export type DigestLabel = 'arguments' | 'answer' | 'task' | 'session' | 'extras';

/** 16 random bytes in hexadecimal: without them short content could be found by guessing. */
export type Salt = string;

const encoder = new TextEncoder();
const SALT_BYTES = 16;
/** Most content fits; what does not gets an array of its own. */
const scratch = new Uint8Array(16_384);

/** SHA-256( "colibri:" label ":v1" LF, the 16 bytes of the salt, the text in UTF-8 ). */
export function saltedDigest(label: DigestLabel, salt: Salt, text: string): Digest {
  // UTF-8 has no half of a surrogate pair: the encoder would give two texts one digest.
  if (!text.isWellFormed()) throw new RangeError('the text contains half of a surrogate pair');
  const head = `colibri:${label}:v1\n`;
  const start = head.length + SALT_BYTES;
  // A UTF-16 unit takes at most three bytes in UTF-8.
  const most = start + text.length * 3;
  const bytes = most <= scratch.length ? scratch : new Uint8Array(most);
  encoder.encodeInto(head, bytes);
  writeHex(salt, bytes, head.length, SALT_BYTES);
  const { written } = encoder.encodeInto(text, bytes.subarray(start));
  return sha256(bytes.subarray(0, start + written));
}

const SALT = /^[0-9a-f]{32}$/;

/** What a stored row's content digests to; undefined when the row holds something that no honest writer stores. */
export function storedDigest(label: DigestLabel, salt: unknown, text: unknown): Digest | undefined {
  const isHonest = typeof salt === 'string' && SALT.test(salt) && typeof text === 'string' && text.isWellFormed();
  return isHonest ? saltedDigest(label, salt, text) : undefined;
}
