import { hash } from 'node:crypto';

/** A SHA-256 digest as 64 lower-case hexadecimal digits. */
export type Digest = string;

/** Digests bytes, or the UTF-8 encoding of a string. The browser build swaps this file for sha256.browser.ts. */
export function sha256(data: string | Uint8Array): Digest {
  return hash('sha256', data, 'hex');
}
