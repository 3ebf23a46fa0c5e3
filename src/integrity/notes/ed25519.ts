import { createPublicKey, verify } from 'node:crypto';
import { isSoundKey, isSoundSignature } from './ed25519-strict.ts';

/** The DER encoding of an Ed25519 public key (RFC 8410) up to the key itself. */
const KEY_PREFIX = Uint8Array.from([0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]);

/** RFC 8032 without the cofactor, for sound keys only. The browser build swaps this file for ed25519.browser.ts. */
export function isSignedBy(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (!isSoundKey(key) || !isSoundSignature(signature)) return false;
  try {
    const publicKey = createPublicKey({ key: Buffer.concat([KEY_PREFIX, key]), format: 'der', type: 'spki' });
    return verify(null, message, publicKey, signature);
  } catch {
    // Half of all encodings name no point of the curve.
    return false;
  }
}
