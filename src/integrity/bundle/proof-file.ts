import { BadFormat } from '../bad-format.ts';
import { isIncluded, leafHash } from '../merkle.ts';
import { verifyCheckpoint } from '../notes/checkpoint.ts';
import { parseTlogProof } from '../notes/tlog-proof.ts';
import { BUNDLE_FORMAT, type BundleHead, parseBundledEntry } from './format.ts';
import { type BundleReport, judgeEntries, open, signature, type TrustedKeys } from './verify.ts';

/** Judges a tlog-proof whose extra data is the entry, as `colibri prove` writes it. Throws `BadFormat` as `verifyBundle`. */
export function verifyProofFile(text: string, keys: TrustedKeys): BundleReport {
  const { index, path, extra, checkpoint: note } = parseTlogProof(text);
  if (extra === undefined) throw new BadFormat('the proof does not name its entry');
  const bundled = parseBundledEntry(decode(extra));
  if (bundled.index !== index) throw new BadFormat('the proof is of another index than its entry');
  const checkpoint = verifyCheckpoint(note, keys);
  const { size, root } = checkpoint;
  const entry = open(bundled);
  if (!isIncluded({ leaf: leafHash(entry.entry), index, size, proof: path, root })) {
    const says = `entry ${index} of the signed log is another one`;
    return { claims: [signature(checkpoint), { about: 'inclusion', holds: 'no', says }], entries: [], checkpoint };
  }
  const head: BundleHead = {
    format: BUNDLE_FORMAT,
    checkpoint: note,
    scope: { kind: 'entry', index },
    redacted: bundled.disclosed === undefined,
    entry_count: 1,
    hash_count: path.length,
  };
  return judgeEntries(head, [entry], checkpoint);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new BadFormat('the extra data is not UTF-8');
  }
}
