import { readEntries } from '../../../src/cli/proofs/read-entries.ts';
import type { Reader } from '../../../src/db/database.ts';
import {
  BUNDLE_FORMAT,
  type BundledEntry,
  type BundleHead,
  type BundleScope,
  canonicalize,
  checkpointText,
  formatBundle,
  formatSignature,
  formatTlogProof,
  formatVerifierKey,
  inclusionRanges,
  type Json,
  type LeafRange,
  leafHash,
  originOf,
  parseEntry,
  subsetRanges,
} from '../../../src/integrity/index.ts';
import { naiveRoot } from '../fixtures/naive.ts';
import { signingKey } from './signing-key.ts';

/** The whole log of a ledger, with what its entries have digests of. */
export async function readSignedLog(reader: Reader): Promise<SignedLog> {
  const [row] = await reader.query<{ size: number }>('SELECT size FROM ledger_head');
  const entries: BundledEntry[] = [];
  const pages = readEntries(reader, { indexes: undefined, size: row?.size ?? 0, redact: false });
  for await (const page of pages) entries.push(...page);
  return new SignedLog(entries);
}

/** A log that a key has signed: makes bundles and proofs of any of its entries. */
export class SignedLog {
  readonly entries: readonly BundledEntry[];
  readonly origin: string;
  /** What a reader pins. */
  readonly key: string;
  readonly #leaves: readonly string[];
  readonly #signer = signingKey(2);

  constructor(entries: readonly BundledEntry[]) {
    this.entries = entries;
    this.origin = originOf(parseEntry(entries[0]?.entry ?? '')?.['ledger_id'] as string);
    this.key = formatVerifierKey(this.#signer.verifierKey(this.origin));
    this.#leaves = entries.map(({ entry }) => leafHash(entry));
  }

  checkpoint(): string {
    const text = checkpointText({ origin: this.origin, size: this.entries.length, root: naiveRoot(this.#leaves) });
    return `${text}\n${formatSignature(this.#signer.signNote(this.origin, text))}`;
  }

  bundle(indexes = this.entries.map(({ index }) => index), scope: BundleScope = { kind: 'ledger' }): string {
    const hashes = this.#hashesOf(subsetRanges(indexes, this.entries.length));
    const head: BundleHead = {
      format: BUNDLE_FORMAT,
      checkpoint: this.checkpoint(),
      scope,
      redacted: false,
      entry_count: indexes.length,
      hash_count: hashes.length,
    };
    const entries = indexes.map((index) => this.entries[index] as BundledEntry);
    return [...formatBundle({ head, entries, hashes })].join('');
  }

  proof(index: number): string {
    const { entry, path, checkpoint } = this.inclusion(index);
    const extra = Buffer.from(canonicalize(entry as unknown as Json));
    return formatTlogProof({ index, path, extra, checkpoint });
  }

  /** What every format of a proof says. */
  inclusion(index: number): { entry: BundledEntry; path: string[]; checkpoint: string } {
    const path = this.#hashesOf(inclusionRanges(index, this.entries.length));
    return { entry: this.entries[index] as BundledEntry, path, checkpoint: this.checkpoint() };
  }

  #hashesOf(ranges: readonly LeafRange[]): string[] {
    return ranges.map(({ begin, end }) => naiveRoot(this.#leaves.slice(begin, end)));
  }
}
