import { parseBundle } from './format.ts';
import { verifyProofFile } from './proof-file.ts';
import { type BundleReport, type Claim, type TrustedKeys, verifyBundle } from './verify.ts';

/** Judges the text of a bundle or of a proof. Throws `BadFormat` for what cannot be judged. */
export function verifyText(text: string, keys: TrustedKeys): BundleReport {
  return text.startsWith('{"checkpoint":') ? verifyBundle(parseBundle(text), keys) : verifyProofFile(text, keys);
}

export const CLAIM_WORDS: Readonly<Record<Claim['holds'], string>> = { yes: 'holds', no: 'FAILS', unknown: 'unknown' };

/** A claim as one line of a report: "FAILS   the entries are not those of the signed log". */
export function claimLine({ holds, says }: Claim): string {
  return `${CLAIM_WORDS[holds].padEnd(8)}${says}`;
}
