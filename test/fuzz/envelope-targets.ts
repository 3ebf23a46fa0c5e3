import {
  BadFormat,
  embeddingTags,
  encodeBase64,
  findPacked,
  formatChain,
  formatDsse,
  formatReceipt,
  parseChain,
  parseCheckpoint,
  parseVerifierKey,
  verifyBytes,
} from '../../src/integrity/index.ts';
import { signingKey } from '../support/signing-key.ts';
import { assertSame, keys, log } from './proof-targets.ts';
import { type FuzzTarget, promise, unlessThrows } from './target.ts';

const key = parseVerifierKey(log.key);
const sign = (message: Uint8Array) => signingKey(2).signBytes(message);

/** Bytes as text with one character for each, so that the same mutations serve them. */
const receipts = [3, 7].map((index) => Buffer.from(formatReceipt(log.inclusion(index), key, sign)).toString('latin1'));
const envelopes = [3, 7].map((index) => formatDsse(log.inclusion(index), key, sign));

function envelope(name: string, samples: readonly string[], encoding: 'latin1' | 'utf8'): FuzzTarget {
  return {
    name,
    samples,
    check: (input) => {
      const report = unlessThrows(BadFormat, () => verifyBytes(Buffer.from(input, encoding), keys));
      if (report !== undefined) assertSame(report);
      return report?.claims.every(({ holds }) => holds !== 'no') ?? false;
    },
  };
}

const { size } = parseCheckpoint(log.checkpoint());
const chain: FuzzTarget = {
  name: 'extension-chain',
  samples: [formatChain([{ oldSize: size, proof: [], checkpoint: log.checkpoint() }]), ''],
  check: (input) => {
    const steps = unlessThrows(BadFormat, () => parseChain(input));
    if (steps !== undefined) promise(formatChain(steps) === input, 'a chain has one text');
    return steps !== undefined;
  },
};

const [beginOfBundle, endOfBundle] = embeddingTags('claims');
const page: FuzzTarget = {
  name: 'page',
  samples: ['any bytes '.repeat(50), ''].map(
    (text) => `<!doctype html>${beginOfBundle}${Buffer.from(text).toString('base64')}${endOfBundle}`,
  ),
  check: (input) => {
    const packed = unlessThrows(BadFormat, () => findPacked(Buffer.from(input)));
    if (packed !== undefined) promise(input.includes(`>${encodeBase64(packed)}<`), 'a bundle in a page has one text');
    return packed !== undefined;
  },
};

export const ENVELOPE_TARGETS: readonly FuzzTarget[] = [
  envelope('cose-receipt', receipts, 'latin1'),
  envelope('dsse-envelope', envelopes, 'utf8'),
  chain,
  page,
];
