import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes, equalBytes } from '@noble/curves/utils.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { isSoundKey, isSoundSignature, KEY_BYTES, littleEndian } from './ed25519-strict.ts';

const { Point } = ed25519;

/** The equation without the cofactor, as in Node: the library's own check accepts a few signatures more. */
export function isSignedBy(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (!isSoundKey(key) || !isSoundSignature(signature)) return false;
  const commitment = signature.subarray(0, KEY_BYTES);
  const challenge = littleEndian(sha512(concatBytes(commitment, key, message)));
  try {
    const expected = multiply(Point.BASE, littleEndian(signature.subarray(KEY_BYTES))).subtract(
      multiply(Point.fromBytes(key), challenge),
    );
    return equalBytes(expected.toBytes(), commitment);
  } catch {
    return false;
  }
}

function multiply(point: typeof Point.BASE, scalar: bigint): typeof Point.BASE {
  return point.multiplyUnsafe(Point.Fn.create(scalar));
}
