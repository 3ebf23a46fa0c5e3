import { sha256 as digest } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export type Digest = string;

export function sha256(data: string | Uint8Array): Digest {
  return bytesToHex(digest(typeof data === 'string' ? utf8ToBytes(data) : data));
}
