import { type DigestLabel, storedDigest } from '../integrity/index.ts';
import { textOf } from './byte-text.ts';

/** Contents are JSON, which has no such character in it unless somebody has forged it. */
export const CONTENT_SEPARATOR = '\u001e';

/** Contents of rows as they are stored, and the digests that the log claims of them. */
export interface Contents {
  readonly label: DigestLabel;
  /** Salt and content of one row after the other, all with a separator between them. */
  readonly bytes: Uint8Array;
  /** The digests in the same order, with nothing between them. */
  readonly claimed: string;
}

/** Who can tell whether contents are what the log claims. */
export interface ContentCheck {
  areAsClaimed(contents: Contents): boolean;
}

const DIGEST_DIGITS = 64;

export function areAsClaimed({ label, bytes, claimed }: Contents): boolean {
  const rows = claimed.length / DIGEST_DIGITS;
  if (rows === 0) return bytes.length === 0;
  const texts = textOf(bytes)?.split(CONTENT_SEPARATOR);
  if (texts?.length !== rows * 2) return false;
  for (let row = 0; row < rows; row += 1) {
    const digest = storedDigest(label, texts[row * 2], texts[row * 2 + 1]);
    if (digest === undefined || !claimed.startsWith(digest, row * DIGEST_DIGITS)) return false;
  }
  return true;
}
