import { BadFormat } from '../bad-format.ts';
import { bytesOfHex, hexOfBytes } from '../hex.ts';
import { sha256 } from '../sha256.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { isSignedBy } from './ed25519.ts';
import { isSoundKey, KEY_BYTES, SIGNATURE_BYTES } from './ed25519-strict.ts';

/** C2SP signed-note 1.0.0: a text and the signatures of it, one line for each key. */

/**
 * How a key signs: the text itself, or a checkpoint with the time at which a witness saw it (C2SP tlog-cosignature).
 */
export const SIGNATURE_TYPES = { note: 0x01, cosignature: 0x04 } as const;
export type SignatureType = keyof typeof SIGNATURE_TYPES;

export interface VerifierKey {
  readonly name: string;
  readonly type: SignatureType;
  readonly publicKey: Uint8Array;
}

export interface NoteSignature {
  readonly name: string;
  /** Eight hexadecimal digits that, with the name, tell keys apart. They prove nothing. */
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

export interface SignedNote {
  /** With its final line feed. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A signature that a known key made. */
export interface Verified {
  readonly key: VerifierKey;
  /** Seconds since 1970; only witnesses state one. */
  readonly time?: number;
}

const MAX_LENGTH = 262_144;
const MAX_SIGNATURES = 100;
const KEY_ID_BYTES = 4;
const TIME_BYTES = 8;
const DASH = '\u2014';
const encoder = new TextEncoder();

export function keyId({ name, type, publicKey }: VerifierKey): string {
  const prefix = encoder.encode(`${name}\n`);
  return sha256(Uint8Array.from([...prefix, SIGNATURE_TYPES[type], ...publicKey])).slice(0, KEY_ID_BYTES * 2);
}

/** `name+id+key`: what a person pins. */
export function formatVerifierKey(key: VerifierKey): string {
  assertKeyName(key.name);
  return `${key.name}+${keyId(key)}+${encodeBase64(Uint8Array.from([SIGNATURE_TYPES[key.type], ...key.publicKey]))}`;
}

export function parseVerifierKey(text: string): VerifierKey {
  const [name = '', id = '', encoded = ''] = text.split('+', 2).concat(text.split('+').slice(2).join('+'));
  assertKeyName(name);
  const bytes = decodeBase64(encoded, 'the third part of the key');
  const types = Object.keys(SIGNATURE_TYPES) as SignatureType[];
  const type = types.find((each) => SIGNATURE_TYPES[each] === bytes[0]);
  if (type === undefined)
    throw new BadFormat('the key is of an unknown type; known are Ed25519 notes and cosignatures');
  const key: VerifierKey = { name, type, publicKey: bytes.slice(1) };
  if (key.publicKey.length !== KEY_BYTES) throw new BadFormat('the key does not have 32 bytes');
  if (!isSoundKey(key.publicKey)) throw new BadFormat('the key is not canonical or of small order: it proves nothing');
  if (keyId(key) !== id) throw new BadFormat('the second part of the key does not belong to the rest of it');
  return key;
}

/** Each key once, although the texts of two objects are the same. */
export function distinctKeys(keys: readonly VerifierKey[]): VerifierKey[] {
  return [...new Map(keys.map((key) => [formatVerifierKey(key), key])).values()];
}

export function parseNote(note: string): SignedNote {
  if (note.length > MAX_LENGTH) throw new BadFormat(`a note has at most ${MAX_LENGTH} characters`);
  if (!note.isWellFormed() || hasControlCharacters(note))
    throw new BadFormat('a note is text without control characters');
  const end = note.lastIndexOf('\n\n');
  if (end < 0) throw new BadFormat('a note has a blank line before its signatures');
  const lines = note.slice(end + 2).split('\n');
  if (lines.pop() !== '' || lines.length === 0) throw new BadFormat('a note ends with lines of signatures');
  if (lines.length > MAX_SIGNATURES) throw new BadFormat(`a note has at most ${MAX_SIGNATURES} signatures`);
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

export function formatNote({ text, signatures }: SignedNote): string {
  const lines = signatures.map(formatSignature);
  return `${text}\n${lines.join('')}`;
}

export function formatSignature({ name, keyId: id, bytes }: NoteSignature): string {
  assertKeyName(name);
  const whole = Uint8Array.from([...bytesOfHex(id), ...bytes]);
  return `${DASH} ${name} ${encodeBase64(whole)}\n`;
}

export function parseSignature(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...rest] = line.split(' ');
  if (dash !== DASH || rest.length > 0) throw new BadFormat('a signature line is a dash, a name and a signature');
  assertKeyName(name);
  const bytes = decodeBase64(encoded, 'a signature');
  if (bytes.length <= KEY_ID_BYTES) throw new BadFormat('a signature is too short');
  const id = hexOfBytes(bytes.subarray(0, KEY_ID_BYTES));
  return { name, keyId: id, bytes: bytes.slice(KEY_ID_BYTES) };
}

/**
 * The signatures by these keys. Those of unknown keys are ignored; one by a known key that does not hold makes the
 * whole note bad. The text means nothing unless a trusted key is in the result.
 */
export function verifyNote({ text, signatures }: SignedNote, keys: readonly VerifierKey[]): Verified[] {
  const verified: Verified[] = [];
  for (const signature of signatures) {
    const key = keys.find((each) => each.name === signature.name && keyId(each) === signature.keyId);
    if (key === undefined) continue;
    const found = check(text, signature.bytes, key);
    if (found === undefined) throw new BadFormat(`the signature by ${key.name} does not hold`);
    verified.push(found);
  }
  return verified;
}

function check(text: string, bytes: Uint8Array, key: VerifierKey): Verified | undefined {
  if (key.type === 'note') return isSignedBy(key.publicKey, encoder.encode(text), bytes) ? { key } : undefined;
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined;
  const time = bytes.subarray(0, TIME_BYTES).reduce((value, byte) => value * 256 + byte, 0);
  if (!Number.isSafeInteger(time)) return undefined;
  const message = encoder.encode(cosignedText(text, time));
  return isSignedBy(key.publicKey, message, bytes.subarray(TIME_BYTES)) ? { key, time } : undefined;
}

/** What a witness signs: the checkpoint, and when it was the newest one that the witness knew. */
export function cosignedText(text: string, time: number): string {
  return `cosignature/v1\ntime ${time}\n${text}`;
}

function assertKeyName(name: string): void {
  if (name === '' || /[\p{White_Space}+]/u.test(name) || !name.isWellFormed() || hasControlCharacters(name))
    throw new BadFormat('the name of a key is not empty and has no spaces and no plus sign');
}

function hasControlCharacters(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 && unit !== 0x0a) return true;
  }
  return false;
}
