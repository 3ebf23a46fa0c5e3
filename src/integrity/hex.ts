const DIGITS = '0123456789abcdef';
const CHARACTERS = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
const VALUES = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value += 1) VALUES[value.toString(16).charCodeAt(0)] = value;

/** Writes the bytes that lower-case hexadecimal digits stand for; refuses any other text, and one of another length. */
export function writeHex(hex: string, target: Uint8Array, offset: number, bytes: number): void {
  // Decoding invalid digits as zeros would yield a plausible digest.
  if (hex.length !== bytes * 2 || !readHex(hex, 0, target, offset, bytes))
    throw new RangeError(`not ${bytes * 2} lower-case hexadecimal digits`);
}

/** The same for digits in the middle of a text; returns false if they are invalid. */
export function readHex(text: string, begin: number, target: Uint8Array, offset: number, bytes: number): boolean {
  if (text.length < begin + bytes * 2) return false;
  let seen = 0;
  for (let byte = 0; byte < bytes; byte += 1) {
    const high = VALUES[text.charCodeAt(begin + byte * 2)] ?? -1;
    const low = VALUES[text.charCodeAt(begin + byte * 2 + 1)] ?? -1;
    seen |= high | low;
    target[offset + byte] = high * 16 + low;
  }
  return seen >= 0;
}

/** The digits of bytes that each stand as one character. */
export function toHex(raw: string): string {
  let hex = '';
  for (let byte = 0; byte < raw.length; byte += 1) {
    const value = raw.charCodeAt(byte);
    hex += DIGITS.charAt(value >> 4) + DIGITS.charAt(value & 15);
  }
  return hex;
}

/** Refuses what `writeHex` refuses. */
export function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(hex.length / 2));
  writeHex(hex, bytes, 0, bytes.length);
  return bytes;
}

export function hexOfBytes(bytes: Uint8Array): string {
  let hex = '';
  for (const value of bytes) hex += DIGITS.charAt(value >> 4) + DIGITS.charAt(value & 15);
  return hex;
}

/** The reverse of `toHex`: bytes as one character each. A spread of them all takes ten times as long. */
export function rawOfBytes(bytes: Uint8Array, begin: number, end: number): string {
  let raw = '';
  for (let at = begin; at < end; at += 1) raw += CHARACTERS[bytes[at] as number] as string;
  return raw;
}
