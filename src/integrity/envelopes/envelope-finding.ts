import type { BundleReport, Finding } from '../bundle/verify.ts';
import { isSignedBy } from '../notes/ed25519.ts';
import { formatVerifierKey, keyId } from '../notes/signed-note.ts';

export interface SignedEnvelope {
  readonly name: string;
  /** The id of the key that the envelope names. */
  readonly id: string;
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
}

/** Adds whether the envelope is signed by one of the keys that signed the checkpoint. */
export function withEnvelopeFinding(report: BundleReport, envelope: SignedEnvelope): BundleReport {
  const { claims, checkpoint } = report;
  const [first, ...others] = claims;
  const finding = judge(envelope, checkpoint.signers);
  return { ...report, claims: first === undefined ? [finding] : [first, finding, ...others] };
}

function judge(
  { name, id, signature, message }: SignedEnvelope,
  signers: BundleReport['checkpoint']['signers'],
): Finding {
  const about = 'envelope';
  const key = signers.find((signer) => keyId(signer) === id);
  if (key === undefined)
    return { about, holds: 'no', says: `the ${name} names another key than the one that signed its checkpoint` };
  if (!isSignedBy(key.publicKey, message, signature))
    return { about, holds: 'no', says: `the signature of the ${name} is not of this key: ${formatVerifierKey(key)}` };
  return { about, holds: 'yes', says: `the ${name} is signed by the same key` };
}
