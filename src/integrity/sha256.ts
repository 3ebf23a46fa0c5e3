import { hash } from 'node:crypto';

/** A SHA-256 digest as 64 lower-case hexadecimal digits. */
export type Digest = string;

/** The same as 32 characters, one for each byte: half as long, and quickly put into what is hashed next. */
export type RawDigest = string;

/** Digests bytes, or the UTF-8 encoding of a string. The browser build swaps this file for sha256.browser.ts. */
export function sha256(data: string | Uint8Array): Digest {
  return hash('sha256', data, 'hex');
}

export function rawSha256(data: string | Uint8Array): RawDigest {
  // The type files know no such encoding, the manual does.
  return hash('sha256', data, 'latin1' as 'hex');
}
