import { BadFormat, UnknownSigner } from '../bad-format.ts';
import { bytesOfHex, hexOfBytes } from '../hex.ts';
import { EMPTY_ROOT } from '../merkle.ts';
import type { Digest } from '../sha256.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import {
  distinctKeys,
  parseNote,
  type SignedNote,
  type Verified,
  type VerifierKey,
  verifyNote,
} from './signed-note.ts';

/** C2SP tlog-checkpoint 1.0.0: which log, how many entries, which root. Extension lines are refused. */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Digest;
}

export interface SignedCheckpoint extends Checkpoint {
  readonly note: SignedNote;
}

export interface VerifiedCheckpoint extends SignedCheckpoint {
  /** Keys of the log that signed it. Never empty. */
  readonly signers: readonly VerifierKey[];
  readonly witnesses: readonly Verified[];
  /** How many of the witnesses that the reader named must have cosigned, and those that have not. */
  readonly quorum: number;
  readonly missing: readonly VerifierKey[];
}

const ORIGIN_PREFIX = 'colibri/';

/** Two ledgers never share an origin. */
export function originOf(ledgerId: string): string {
  return `${ORIGIN_PREFIX}${ledgerId}`;
}

/** The text that is signed. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${encodeDigest(root)}\n`;
}

export function parseCheckpoint(text: string): SignedCheckpoint {
  const note = parseNote(text);
  const [origin = '', size = '', root = '', ...rest] = note.text.split('\n');
  if (origin === '') throw new BadFormat('a checkpoint begins with the origin of its log');
  if (rest.length !== 1) throw new BadFormat('a checkpoint has three lines: origin, size and root');
  const checkpoint = {
    origin,
    size: parseSize(size, 'the size of a checkpoint'),
    root: decodeDigest(root, 'the root'),
  };
  if (checkpoint.size === 0 && checkpoint.root !== EMPTY_ROOT) throw new BadFormat('an empty log has another root');
  return { ...checkpoint, note };
}

/**
 * Throws if none of the log's keys signed it, or if a known key's signature does not hold. A key of the log bears its
 * origin as a name: the name in a signature is not signed, and one private key may serve several logs.
 */
export function verifyCheckpoint(
  text: string,
  keys: {
    readonly log: readonly VerifierKey[];
    readonly witnesses?: readonly VerifierKey[];
    readonly quorum?: number;
  },
): VerifiedCheckpoint {
  const checkpoint = parseCheckpoint(text);
  const log = keys.log.filter((key) => key.type === 'note' && key.name === checkpoint.origin);
  const witnesses = distinctKeys(keys.witnesses ?? []).filter((key) => key.type === 'cosignature');
  const verified = verifyNote(checkpoint.note, [...log, ...witnesses]);
  const signers = verified.map(({ key }) => key).filter((key) => key.type === 'note');
  if (signers.length === 0) throw new UnknownSigner('none of the given keys has signed the checkpoint');
  const cosigned = verified.filter(({ key }) => key.type === 'cosignature');
  const missing = witnesses.filter((each) => !cosigned.some(({ key }) => key === each));
  return { ...checkpoint, signers, witnesses: cosigned, quorum: keys.quorum ?? witnesses.length, missing };
}

/** Decimal, without leading zeros, and exact as a number. */
export function parseSize(text: string, what: string): number {
  const value = Number(text);
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text) || !Number.isSafeInteger(value))
    throw new BadFormat(`${what} is a decimal number up to 2^53 - 1`);
  return value;
}

export function encodeDigest(digest: Digest): string {
  return encodeBase64(bytesOfHex(digest));
}

export function decodeDigest(text: string, what: string): Digest {
  const bytes = decodeBase64(text, what);
  if (bytes.length !== 32) throw new BadFormat(`${what} does not have 32 bytes`);
  return hexOfBytes(bytes);
}
