import { sha256 as digest } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export type Digest = string;
export type RawDigest = string;

export function sha256(data: string | Uint8Array): Digest {
  return bytesToHex(digest(toBytes(data)));
}

export function rawSha256(data: string | Uint8Array): RawDigest {
  return String.fromCharCode(...digest(toBytes(data)));
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? utf8ToBytes(data) : data;
}
