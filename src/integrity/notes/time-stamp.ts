import { sha256 } from '../sha256.ts';
import type { NoteSignature, SignedNote } from './signed-note.ts';

/**
 * An RFC 3161 time stamp as a signature line of a note, so that it goes wherever the checkpoint goes. Verifiers that do
 * not know it ignore the line, as signatures by other unknown keys. C2SP signed-note leaves the type 0xff to such uses.
 */

const NAME = 'rfc3161/time-stamp';
const TYPE = '\u00ff';
const keyIdOf = (): string => sha256(latin1(`${NAME}\n${TYPE}colibri/rfc3161/v1`)).slice(0, 8);

/** The digest that the time stamp is about: that of the signed text. */
export function stampedDigest(text: string): string {
  return sha256(text);
}

export function timeStampSignature(response: Uint8Array): NoteSignature {
  return { name: NAME, keyId: keyIdOf(), bytes: response };
}

/** The DER of a TimeStampResp. Nothing has been checked: it may be about anything. */
export function findTimeStamp({ signatures }: SignedNote): Uint8Array | undefined {
  const ownId = keyIdOf();
  return signatures.find(({ name, keyId }) => name === NAME && keyId === ownId)?.bytes;
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
