import { BadFormat } from '../bad-format.ts';
import type { Digest } from '../sha256.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { decodeDigest, encodeDigest, parseCheckpoint, parseSize, type SignedCheckpoint } from './checkpoint.ts';

/** C2SP tlog-proof: that a log with this checkpoint has an entry at this index. Which entry it is stands elsewhere. */
export interface TlogProof {
  readonly index: number;
  readonly path: readonly Digest[];
  /** The signed checkpoint as it was written. */
  readonly checkpoint: string;
  /** Not covered by any signature. */
  readonly extra?: Uint8Array;
}

const HEADER = 'c2sp.org/tlog-proof@v1';
/** The height of the highest tree that a size of 53 bits allows. */
export const MAX_PATH = 53;

export function formatTlogProof({ index, path, checkpoint, extra }: TlogProof): string {
  const lines = [HEADER, ...(extra === undefined ? [] : [`extra ${encodeBase64(extra)}`]), `index ${index}`];
  return `${[...lines, ...path.map(encodeDigest)].join('\n')}\n\n${checkpoint}`;
}

export function parseTlogProof(text: string): TlogProof & { readonly signed: SignedCheckpoint } {
  const end = text.indexOf('\n\n');
  if (end < 0) throw new BadFormat('a proof has a blank line before its checkpoint');
  const [header, ...lines] = text.slice(0, end).split('\n');
  if (header !== HEADER) throw new BadFormat(`a proof begins with ${HEADER}`);
  const extra = lines[0]?.startsWith('extra ') ? decodeBase64(lines.shift()?.slice(6) ?? '', 'extra data') : undefined;
  const [first = '', ...hashes] = lines;
  if (!first.startsWith('index ')) throw new BadFormat('a proof names the index of its entry');
  if (hashes.length > MAX_PATH) throw new BadFormat(`a proof has at most ${MAX_PATH} hashes`);
  const checkpoint = text.slice(end + 2);
  return {
    index: parseSize(first.slice(6), 'the index'),
    path: hashes.map((hash) => decodeDigest(hash, 'a hash of the proof')),
    checkpoint,
    signed: parseCheckpoint(checkpoint),
    ...(extra !== undefined && { extra }),
  };
}
