import { canonicalize, type Json } from './canonical-json.ts';
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
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (canonicalize(value) !== text) return undefined;
  } catch {
    return undefined;
  }
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

/** Keeps a digest of one field from being passed off as a digest of another. */
export type DigestLabel = 'arguments' | 'answer' | 'task' | 'session' | 'extras';

/** 16 random bytes in hexadecimal: without them short content could be found by guessing. */
export type Salt = string;

const encoder = new TextEncoder();
const SALT = /^[0-9a-f]{32}$/;
const SALT_BYTES = 16;

/** SHA-256( "colibri:" label ":v1" LF, the 16 bytes of the salt, the text in UTF-8 ). */
export function saltedDigest(label: DigestLabel, salt: Salt, text: string): Digest {
  if (!SALT.test(salt)) throw new RangeError('a salt is 32 lower-case hexadecimal digits');
  // UTF-8 has no half of a surrogate pair: the encoder would give two texts one digest.
  if (!text.isWellFormed()) throw new RangeError('the text contains half of a surrogate pair');
  const head = encoder.encode(`colibri:${label}:v1\n`);
  const body = encoder.encode(text);
  const bytes = new Uint8Array(head.length + SALT_BYTES + body.length);
  bytes.set(head, 0);
  for (let byte = 0; byte < SALT_BYTES; byte += 1) {
    bytes[head.length + byte] = Number.parseInt(salt.slice(byte * 2, byte * 2 + 2), 16);
  }
  bytes.set(body, head.length + SALT_BYTES);
  return sha256(bytes);
}
