import { BadFormat } from '../bad-format.ts';
import { canonicalize } from '../canonical-json.ts';
import { isCanonicalText } from '../canonical-text.ts';
import {
  digest,
  digits32,
  type Fields,
  type Form,
  objectDefect,
  oneOf,
  optional,
  orNull,
  sessionId,
  shaped,
  taskId,
  text,
  time,
  wholeNumber,
} from '../forms.ts';
import { parseJson } from '../parse-json.ts';
import type { Digest } from '../sha256.ts';

/** What a bundle was made of. Only the whole log and sealed sessions can be proved to be complete. */
export type BundleScope =
  | { readonly kind: 'ledger' }
  | { readonly kind: 'since'; readonly since: string }
  | { readonly kind: 'task'; readonly task_id: string }
  | { readonly kind: 'session'; readonly session_id: string }
  | { readonly kind: 'entry'; readonly index: number };

/** What an entry has a digest of. */
export interface Disclosed {
  readonly salt: string;
  readonly text: string;
  /** Set for a thought; `text` then holds the extras. */
  readonly thought?: { readonly type: string; readonly content: string; readonly previous_hash: Digest | null };
}

export interface BundledEntry {
  readonly index: number;
  /** The text of the entry, byte for byte. */
  readonly entry: string;
  readonly disclosed?: Disclosed | undefined;
}

export interface BundleHead {
  readonly format: typeof BUNDLE_FORMAT;
  readonly checkpoint: string;
  readonly scope: BundleScope;
  /** True if content was left out on purpose. */
  readonly redacted: boolean;
  readonly entry_count: number;
  readonly hash_count: number;
}

export interface Bundle {
  readonly head: BundleHead;
  readonly entries: readonly BundledEntry[];
  /** The proof that the entries are in the log of the checkpoint. */
  readonly hashes: readonly Digest[];
}

export const BUNDLE_FORMAT = 'colibri-bundle/v1';
/** A bundle is read into memory. */
const MAX_LINES = 20_000_000;

const SCOPES: Readonly<Record<BundleScope['kind'], Fields>> = {
  ledger: { kind: oneOf(['ledger']) },
  since: { kind: oneOf(['since']), since: time },
  task: { kind: oneOf(['task']), task_id: taskId },
  session: { kind: oneOf(['session']), session_id: sessionId },
  entry: { kind: oneOf(['entry']), index: wholeNumber(0) },
};

const scope: Form = {
  says: 'a known scope',
  holds: (value) => Object.values(SCOPES).some((fields) => objectDefect(fields, value) === undefined),
};

export const HEAD: Fields = {
  format: oneOf([BUNDLE_FORMAT]),
  checkpoint: text,
  scope,
  redacted: oneOf([true, false]),
  entry_count: wholeNumber(1, MAX_LINES),
  hash_count: wholeNumber(0, MAX_LINES),
};

const THOUGHT: Fields = { type: text, content: text, previous_hash: orNull(digest) };
const DISCLOSED: Fields = { salt: digits32, text, thought: optional(shaped(THOUGHT)) };
export const ENTRY: Fields = { index: wholeNumber(0), entry: text, disclosed: optional(shaped(DISCLOSED)) };

/** Lines of canonical JSON: the head, the entries in the order of the log, the hashes of the proof. */
export function* formatBundle({ head, entries, hashes }: Bundle): Generator<string> {
  yield `${canonicalize(head)}\n`;
  for (const entry of entries) yield `${canonicalize(entry)}\n`;
  for (const hash of hashes) yield `${canonicalize(hash)}\n`;
}

/** Refuses every text that `formatBundle` does not write. Whether it proves anything, `verifyBundle` tells. */
export function parseBundle(file: string): Bundle {
  const lines = file.split('\n');
  if (lines.pop() !== '') throw new BadFormat('the last line of a bundle ends with a line feed');
  const head = parseLine(lines[0] ?? '', 'line 1', HEAD) as BundleHead;
  const { entry_count, hash_count } = head;
  if (lines.length !== 1 + entry_count + hash_count)
    throw new BadFormat(
      `the bundle has ${lines.length} lines where its first line announces ${1 + entry_count + hash_count}`,
    );
  const entries = lines
    .slice(1, 1 + entry_count)
    .map((line, place) => parseLine(line, `line ${place + 2}`, ENTRY) as BundledEntry);
  const hashes = lines.slice(1 + entry_count).map((line, place) => parseHash(line, `line ${entry_count + place + 2}`));
  return { head, entries, hashes };
}

/** One entry by itself, as in a bundle. */
export function parseBundledEntry(line: string): BundledEntry {
  return parseLine(line, 'the entry', ENTRY) as BundledEntry;
}

/** An object of canonical JSON with exactly these fields. */
export function parseLine(line: string, where: string, fields: Fields): unknown {
  if (!isCanonicalText(line)) throw new BadFormat(`${where} is not canonical JSON`);
  const value = parseJson(line);
  const defect = objectDefect(fields, value);
  if (defect !== undefined) throw new BadFormat(`${where} ${defect}`);
  return value;
}

export function parseHash(line: string, where: string): Digest {
  const hash = line.slice(1, -1);
  if (line !== `"${hash}"` || !digest.holds(hash)) throw new BadFormat(`${where} is not a hash`);
  return hash;
}
