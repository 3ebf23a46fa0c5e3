import {
  BadFormat,
  type BundleReport,
  parseBundledEntry,
  parseEntry,
  parseVerifierKey,
  type VerifierKey,
  verifyBytes,
} from '../../src/integrity/index.ts';
import { textOf } from './records.ts';

/** The source of the keys that the claims rest on: the reader, a dropped file of keys, or the judged file itself. */
export type KeySource = 'reader' | 'dropped' | 'file';

export interface GivenKeys {
  readonly typed: readonly VerifierKey[];
  readonly dropped: readonly VerifierKey[];
}

export type Judgment =
  | { readonly state: 'judged'; readonly report: BundleReport; readonly keySource: KeySource }
  | { readonly state: 'refused'; readonly problem: string; readonly advice: string };

const NO_KEY = 'a signature proves nothing without a key that you trust';

/** The same verdict as `colibri verify FILE --key KEY`; without a key of the reader, by keys that came with files. */
export function judge(file: Uint8Array, keys: GivenKeys): Judgment {
  try {
    const [trusted, keySource] = choose(file, keys);
    if (trusted.length === 0) return refuse(NO_KEY, 'Ask the owner of the log for the output of colibri key.');
    const report = verifyBytes(file, { log: trusted, witnesses: trusted });
    return { state: 'judged', report, keySource };
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    return refuse(error.message, 'Nothing is known about this file: neither that it is sound nor that it was forged.');
  }
}

/** Keys of different sources are never mixed: one by a forger would otherwise pass for the reader's. */
function choose(file: Uint8Array, { typed, dropped }: GivenKeys): [readonly VerifierKey[], KeySource] {
  if (typed.length > 0) return [typed, 'reader'];
  return dropped.length > 0 ? [dropped, 'dropped'] : [keysInside(file), 'file'];
}

/** One key per line, as `colibri key` prints them. Throws `BadFormat` for anything else. */
export function parseKeys(text: string): VerifierKey[] {
  const lines = text.split(/\s+/).filter((line) => line !== '');
  return lines.map(parseVerifierKey);
}

const KEY_ENTRY = String.raw`\"kind\":\"key.added\"`;

/** What a log says about its own keys. Few lines have one, so the others are not parsed here. */
function keysInside(file: Uint8Array): VerifierKey[] {
  const keys: VerifierKey[] = [];
  // Whether it is UTF-8 is for the judge to say.
  const text = new TextDecoder().decode(file);
  if (!text.startsWith('{"checkpoint":')) return keys;
  for (let at = text.indexOf(KEY_ENTRY); at >= 0; at = text.indexOf(KEY_ENTRY, at + 1)) {
    const end = text.indexOf('\n', at);
    const line = text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? text.length : end);
    const entry = parseEntry(parseBundledEntry(line).entry);
    if (entry?.kind === 'key.added') keys.push(parseVerifierKey(textOf(entry['key'])));
  }
  return keys;
}

function refuse(problem: string, advice: string): Judgment {
  return { state: 'refused', problem, advice };
}
