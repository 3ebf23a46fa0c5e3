/**
 * What RFC 8032 leaves to the implementation, decided once for every engine: a public key that is not canonical or has
 * a small order is refused, because with such a key one signature holds for many messages.
 */

export const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;

const PRIME = 2n ** 255n - 19n;
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
/** The y-coordinates of the eight points whose order divides 8. */
const SMALL_ORDER: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  PRIME - 1n,
  2707385501144840649318225287225658788936804267575313519463743609750303402022n,
  55188659117513257062467267217118295137698188065244968500265048394206261417927n,
]);

/** Whether 32 bytes are the canonical encoding of a point, and not that of a point of small order. */
export function isSoundKey(key: Uint8Array): boolean {
  const y = littleEndian(key) & (2n ** 255n - 1n);
  return key.length === KEY_BYTES && y < PRIME && !SMALL_ORDER.has(y);
}

/** Whether the second half of a signature is canonical: another one would be a second signature of the same message. */
export function isSoundSignature(signature: Uint8Array): boolean {
  return signature.length === SIGNATURE_BYTES && littleEndian(signature.subarray(KEY_BYTES)) < GROUP_ORDER;
}

export function littleEndian(bytes: Uint8Array): bigint {
  return Array.from(bytes).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);
}
