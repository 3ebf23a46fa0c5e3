import { isDeepStrictEqual } from 'node:util';
import { proveBundle } from '../../src/integrity/bundle/fast/prove-bundle.ts';
import {
  BadFormat,
  type BundledEntry,
  type BundleReport,
  canonicalize,
  parseVerifierKey,
  verifyText,
} from '../../src/integrity/index.ts';
import { compareLine, lineWithContent } from './line-comparison.ts';
import { signLog, WITH_CONTENT } from './sample-log.ts';
import { type FuzzTarget, promise, unlessThrows } from './target.ts';

/** What the fast reader of bundles proves, the reference accepts and says the same about. */

const log = signLog();
const keys = { log: [parseVerifierKey(log.key)] };
const withContent = WITH_CONTENT.map(({ index }) => log.entries[index] as BundledEntry);
const lines = log.entries.flatMap((entry) => [
  canonicalize(entry),
  canonicalize({ index: entry.index, entry: entry.entry }),
]);

const fastLine: FuzzTarget = { name: 'fast-line', samples: lines, check: (input) => compareLine(input).isProved };

const fastEntry: FuzzTarget = {
  name: 'fast-entry',
  samples: log.entries.map(({ entry }) => entry),
  check: (input) => input.isWellFormed() && compareLine(canonicalize({ index: 7, entry: input })).isProved,
};

const fastContent: FuzzTarget = {
  name: 'fast-content',
  samples: withContent.map(({ disclosed }) => disclosed?.text ?? ''),
  check: (input, sample) => {
    const entry = withContent.find(({ disclosed }) => disclosed?.text === sample);
    if (entry === undefined || !input.isWellFormed()) return false;
    return compareLine(lineWithContent(entry, input)).isProved;
  },
};

const fastBundle: FuzzTarget = {
  name: 'fast-bundle',
  samples: [log.bundle(), log.bundle([4, 7, 8, 9, 10]), log.bundle([2, 3, 16])],
  check: (input) => {
    const proved = proveBundle(Buffer.from(input), keys);
    if (proved === undefined) return false;
    const report = unlessThrows(BadFormat, () => verifyText(input, keys));
    const isSame = report !== undefined && isDeepStrictEqual(plainOf(proved), plainOf(report));
    promise(isSame, 'a bundle that is proved gets the report of the reference');
    return true;
  },
};

/** All that a report says. */
function plainOf({ claims, entries, checkpoint, hashes }: BundleReport): unknown {
  const plain = entries.map(({ index, entry, disclosed, fields }) => ({ index, entry, disclosed, fields }));
  return { claims, entries: plain, checkpoint, hashes };
}

export const FAST_BUNDLE_TARGETS: readonly FuzzTarget[] = [fastLine, fastEntry, fastContent, fastBundle];
