import { BadFormat } from '../bad-format.ts';
import { isCose, verifyReceipt } from '../envelopes/cose-receipt.ts';
import { isDsse, verifyDsse } from '../envelopes/dsse.ts';
import { proveBundle } from './fast/prove-bundle.ts';
import { parseBundle } from './format.ts';
import { verifyProofFile } from './proof-file.ts';
import { decodeUtf8 } from './utf8.ts';
import { type BundleReport, type Finding, type TrustedKeys, verifyBundle } from './verify.ts';

/** Of a tlog-proof of any version. */
const PROOF_START = 'c2sp.org/tlog-proof';

/**
 * Judges a file: a bundle, or a proof in one of its formats. Throws `BadFormat` for what cannot be judged. The entries
 * of the report may be read from the bytes later, which therefore must not change.
 */
export function verifyBytes(file: Uint8Array, keys: TrustedKeys): BundleReport {
  if (isCose(file)) return verifyReceipt(file, keys);
  return proveBundle(file, keys) ?? verifyText(decodeUtf8(file, 'the file'), keys);
}

/** The same for a file that is text, by the reference alone. */
export function verifyText(text: string, keys: TrustedKeys): BundleReport {
  if (text.startsWith('{"checkpoint":')) return verifyBundle(parseBundle(text), keys);
  if (isDsse(text)) return verifyDsse(text, keys);
  if (!text.startsWith(PROOF_START)) throw new BadFormat('it is neither a bundle nor a proof');
  return verifyProofFile(text, keys);
}

export const FINDING_WORDS: Readonly<Record<Finding['holds'], string>> = {
  yes: 'holds',
  no: 'FAILS',
  unknown: 'unknown',
};

/** A finding as one line of a report: "FAILS   the entries are not those of the signed log". */
export function findingLine({ holds, says }: Finding): string {
  return `${FINDING_WORDS[holds].padEnd(8)}${says}`;
}
