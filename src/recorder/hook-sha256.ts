import { rawSha256 as rawSmall, sha256 as small } from '../integrity/sha256.browser.ts';

export type Digest = string;
export type RawDigest = string;

/** Below this, loading node:crypto takes longer than hashing without it. */
const MAX_SMALL_LENGTH = 65_536;

/** The build of `colibri hook` swaps sha256.ts for this file: a hook hashes little, and must start quickly. */
export function sha256(data: string | Uint8Array): Digest {
  return data.length <= MAX_SMALL_LENGTH ? small(data) : loadCrypto().hash('sha256', data, 'hex');
}

export function rawSha256(data: string | Uint8Array): RawDigest {
  // The type files know no such encoding, the manual does.
  return data.length <= MAX_SMALL_LENGTH ? rawSmall(data) : loadCrypto().hash('sha256', data, 'latin1' as 'hex');
}

function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}
