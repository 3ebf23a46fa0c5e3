import { rawOfBytes } from '../../../hex.ts';
import type { RawDigest } from '../../../sha256.ts';
import { type Scratch, WORD } from './scratch.ts';

const VALUES = new Int16Array(256).fill(-1);
for (let value = 0; value < 16; value += 1) VALUES[value.toString(16).charCodeAt(0)] = value;

/** For each byte its two digits, the first one in the lower half. */
const PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0');
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8);
});

export const DIGEST_DIGITS = 64;
const DIGEST_BYTES = 32;

/** Whether these are the lower-case hexadecimal digits of a digest. */
export function isHexOf({ words }: Scratch, at: number, digest: RawDigest): boolean {
  for (let byte = 0, next = at; byte < DIGEST_BYTES; byte += 2, next += WORD) {
    const low = PAIRS[digest.charCodeAt(byte)] as number;
    const high = PAIRS[digest.charCodeAt(byte + 1)] as number;
    if (words.getInt32(next, true) !== (low | (high << 16))) return false;
  }
  return true;
}

/** Writes the bytes that the digits stand for; returns false if these are invalid. */
export function readHexBytes(digits: Uint8Array, at: number, target: Uint8Array, to: number, bytes: number): boolean {
  let seen = 0;
  for (let byte = 0; byte < bytes; byte += 1) {
    const value = byteAt(digits, at + byte * 2);
    seen |= value;
    target[to + byte] = value;
  }
  return seen >= 0;
}

const scratch = new Uint8Array(DIGEST_BYTES);

export function isDigestAt(digits: Uint8Array, at: number): boolean {
  return readHexBytes(digits, at, scratch, 0, DIGEST_BYTES);
}

/** Undefined unless 64 digits are there. */
export function rawDigestAt(digits: Uint8Array, at: number): RawDigest | undefined {
  return isDigestAt(digits, at) ? rawOfBytes(scratch, 0, DIGEST_BYTES) : undefined;
}

/** Negative if there are no two digits. */
function byteAt(digits: Uint8Array, at: number): number {
  return ((VALUES[digits[at] as number] ?? -1) << 4) | (VALUES[digits[at + 1] as number] ?? -1);
}
