import { BadFormat } from '../bad-format.ts';
import { EMPTY_ROOT, isConsistent } from '../merkle.ts';
import type { Digest } from '../sha256.ts';
import { type Checkpoint, decodeDigest, encodeDigest, parseCheckpoint, parseSize } from './checkpoint.ts';

/** C2SP tlog-witness 1.0.0, the body of add-checkpoint: a checkpoint, and the proof that it extends an earlier one. */
export interface WitnessRequest {
  readonly oldSize: number;
  readonly proof: readonly Digest[];
  /** The signed checkpoint as it was written. */
  readonly checkpoint: string;
}

/** The specification allows no more. */
const MAX_PROOF = 63;

export function formatWitnessRequest({ oldSize, proof, checkpoint }: WitnessRequest): string {
  return `${[`old ${oldSize}`, ...proof.map(encodeDigest)].join('\n')}\n\n${checkpoint}`;
}

export function parseWitnessRequest(text: string): WitnessRequest {
  const end = text.indexOf('\n\n');
  const [first = '', ...hashes] = text.slice(0, Math.max(end, 0)).split('\n');
  if (!first.startsWith('old ')) throw new BadFormat('an extension begins with the size that it extends');
  if (hashes.length > MAX_PROOF) throw new BadFormat(`an extension has at most ${MAX_PROOF} hashes`);
  const checkpoint = text.slice(end + 2);
  parseCheckpoint(checkpoint);
  return {
    oldSize: parseSize(first.slice('old '.length), 'the size that is extended'),
    proof: hashes.map((hash) => decodeDigest(hash, 'a hash of the proof')),
    checkpoint,
  };
}

/** Whether the proof shows that the log of one checkpoint begins with that of another. The empty log needs no proof. */
export function isExtension(old: Checkpoint, proof: readonly Digest[], next: Checkpoint): boolean {
  if (old.origin !== next.origin || old.size > next.size) return false;
  if (old.size === 0) return old.root === EMPTY_ROOT && proof.length === 0;
  return isConsistent({ oldSize: old.size, oldRoot: old.root, size: next.size, root: next.root, proof });
}
