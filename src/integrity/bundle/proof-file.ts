import { BadFormat } from '../bad-format.ts';
import { parseTlogProof } from '../notes/tlog-proof.ts';
import { parseBundledEntry } from './format.ts';
import { judgeProof } from './inclusion-proof.ts';
import { decodeUtf8 } from './utf8.ts';
import type { BundleReport, TrustedKeys } from './verify.ts';

/**
 * Judges a tlog-proof whose extra data is the entry, as `colibri prove` writes it. Throws `BadFormat` as
 * `verifyBundle`.
 */
export function verifyProofFile(text: string, keys: TrustedKeys): BundleReport {
  const { index, path, extra, checkpoint } = parseTlogProof(text);
  if (extra === undefined) throw new BadFormat('the proof does not name its entry');
  const entry = parseBundledEntry(decodeUtf8(extra, 'the extra data'));
  if (entry.index !== index) throw new BadFormat('the proof is of another index than its entry');
  return judgeProof({ entry, path, checkpoint }, keys);
}
