import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findConfigFolder } from '../config.ts';
import {
  BadFormat,
  findTimeStamp,
  formatNote,
  formatVerifierKey,
  keyId,
  type NoteSignature,
  parseCheckpoint,
  type SignedCheckpoint,
  sha256,
  stampedDigest,
  timeStampSignature,
  type Verified,
  type VerifierKey,
  verifyNote,
} from '../integrity/index.ts';
import { isPrivate, writePrivateFile } from '../trust/private-file.ts';
import { listWitnesses } from './configured.ts';
import { findRequested } from './time-stamps.ts';

/** The newest checkpoint that a witness has cosigned, and when. */
export interface Cosigned extends SignedCheckpoint {
  readonly signature: NoteSignature;
  readonly time: number;
}

/** Undefined if the witness has cosigned nothing, or if what is stored is not by it: it is asked again then. */
export function findCosigned(ledgerId: string, witness: VerifierKey): Cosigned | undefined {
  const file = findFile(ledgerId, witness);
  try {
    if (file === undefined || !isPrivate(file)) return undefined;
    const checkpoint = parseCheckpoint(readFileSync(file, 'utf8'));
    const found = verifyCosignature(checkpoint.note.text, checkpoint.note.signatures, witness);
    return found && { ...checkpoint, ...found };
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
  }
}

/** Keeps the checkpoint with one cosignature. One that a faster process has stored over a larger log stays. */
export function storeCosigned(
  ledgerId: string,
  witness: VerifierKey,
  { note, size }: SignedCheckpoint,
  signature: NoteSignature,
): void {
  const file = findFile(ledgerId, witness);
  if (file === undefined || (findCosigned(ledgerId, witness)?.size ?? 0) > size) return;
  writePrivateFile(file, formatNote({ text: note.text, signatures: [...note.signatures, signature] }));
}

/** The checkpoint with the cosignatures, and the time stamp, that others have given for exactly this one. */
export function withCosignatures(ledgerId: string, checkpoint: string): string {
  const { note } = parseCheckpoint(checkpoint);
  const found = listWitnesses(ledgerId).map(({ key }) => findCosigned(ledgerId, key));
  const added = found.flatMap((cosigned) => (cosigned?.note.text === note.text ? [cosigned.signature] : []));
  const stamped = findRequested(ledgerId, stampedDigest(note.text));
  const stamp = stamped && findTimeStamp(stamped.note);
  const signatures = [...note.signatures, ...added, ...(stamp === undefined ? [] : [timeStampSignature(stamp)])];
  return formatNote({ text: note.text, signatures });
}

/**
 * The signature of a checkpoint by this witness; undefined if there is none. Throws `BadFormat` if it does not hold.
 */
export function verifyCosignature(
  text: string,
  signatures: readonly NoteSignature[],
  witness: VerifierKey,
): (Required<Pick<Verified, 'time'>> & { signature: NoteSignature }) | undefined {
  const signature = signatures.find(({ name, keyId: id }) => name === witness.name && id === keyId(witness));
  if (signature === undefined) return undefined;
  const [verified] = verifyNote({ text, signatures: [signature] }, [witness]);
  const time = verified?.time ?? 0;
  if (time === 0) throw new BadFormat('the cosignature states no time');
  return { signature, time };
}

function findFile(ledgerId: string, witness: VerifierKey): string | undefined {
  const folder = findConfigFolder();
  const name = sha256(formatVerifierKey(witness)).slice(0, 32);
  return folder === undefined ? undefined : join(folder, 'colibri', 'cosigned', ledgerId, name);
}
