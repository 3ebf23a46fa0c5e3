import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { createEntries, LOG_KEY, rootOf, TestKey } from '../../../test/vectors/signed-log.ts';
import { consistencyRanges, foldLeaves, isConsistent, leafHash } from '../merkle.ts';
import type { Digest } from '../sha256.ts';
import { BUNDLE_FORMAT, type Bundle, type BundledEntry } from './format.ts';
import { subsetRanges } from './subset-proof.ts';
import { type TrustedKeys, verifyBundle } from './verify.ts';

/** Attacks of an operator who has the key, and can sign anything. */

const SIZE = 11;
const KEYS: TrustedKeys = { log: [LOG_KEY.verifierKey] };
const HONEST = createEntries(SIZE);
/** The same log, but for entries 3 to 9: both ends match. */
const FORGED = HONEST.map((entry, index) =>
  index >= 3 && index < SIZE - 1 ? (createEntries(SIZE, 'forged')[index] ?? entry) : entry,
);

const leavesOf = (entries: readonly BundledEntry[]) => entries.map(({ entry }) => leafHash(entry));
const hashesOf = (leaves: readonly Digest[], ranges: readonly { begin: number; end: number }[]) =>
  ranges.map(({ begin, end }) => foldLeaves(leaves.slice(begin, end)));

function bundleOf(entries: readonly BundledEntry[], indexes: readonly number[], checkpoint?: string): Bundle {
  const chosen = entries.filter(({ index }) => indexes.includes(index));
  const hashes = hashesOf(leavesOf(entries), subsetRanges(indexes, entries.length));
  const signed = checkpoint ?? LOG_KEY.signCheckpoint(entries.length, rootOf(entries));
  const counts = { entry_count: chosen.length, hash_count: hashes.length };
  const scope = { kind: 'ledger' } as const;
  return {
    head: { format: BUNDLE_FORMAT, checkpoint: signed, scope, redacted: false, ...counts },
    entries: chosen,
    hashes,
  };
}

const all = Array.from({ length: SIZE }, (_, index) => index);
const holdings = (bundle: Bundle, keys = KEYS) =>
  Object.fromEntries(verifyBundle(bundle, keys).claims.map(({ about, holds }) => [about, holds]));

/** Every list that takes each item from one of two lists. */
function mixtures<Item>([one = [], other = []]: readonly (readonly Item[])[]): Item[][] {
  return one.reduce<Item[][]>(
    (lists, item, place) =>
      lists.flatMap((list) => [...new Set([item, other[place] ?? item])].map((each) => [...list, each])),
    [[]],
  );
}

describe('a log whose ends match and whose middle differs', () => {
  promiseTest('bundle/equivocation', 'has no consistency proof from what was signed before, whatever its parts', () => {
    for (let oldSize = 4; oldSize < SIZE; oldSize += 1) {
      const ranges = consistencyRanges(oldSize, SIZE);
      const proofs = [HONEST, FORGED].map((entries) => hashesOf(leavesOf(entries), ranges));
      const claim = {
        oldSize,
        oldRoot: rootOf(HONEST.slice(0, oldSize)),
        size: SIZE,
        root: rootOf(HONEST),
        proof: proofs[0] ?? [],
      };
      expect(isConsistent(claim)).toBe(true);
      for (const proof of mixtures(proofs))
        expect(isConsistent({ ...claim, root: rootOf(FORGED), proof }), `from ${oldSize}`).toBe(false);
    }
  });

  promiseTest(
    'bundle/equivocation',
    'is not the one of the checkpoint, with the entries or the hashes of either',
    () => {
      const ends = [0, 1, 2, SIZE - 1];
      const [honest, forged] = [bundleOf(HONEST, ends), bundleOf(FORGED, ends)];
      expect(forged.entries).toEqual(honest.entries);
      expect([holdings(honest)['inclusion'], holdings(forged)['inclusion']]).toEqual(['yes', 'yes']);
      expect(holdings({ ...forged, head: honest.head })['inclusion']).toBe('no');
      for (const hashes of mixtures([honest.hashes, forged.hashes])) {
        const isHonest = hashes.every((hash, place) => hash === honest.hashes[place]);
        expect(holdings({ ...honest, hashes })['inclusion']).toBe(isHonest ? 'yes' : 'no');
      }
      const whole = bundleOf(HONEST, all);
      for (const [index, entry] of FORGED.entries()) {
        if (entry.entry === HONEST[index]?.entry) continue;
        expect(holdings({ ...whole, entries: whole.entries.with(index, entry) })['inclusion'], `entry ${index}`).toBe(
          'no',
        );
      }
    },
  );
});

describe('two histories for two readers', () => {
  const [first, second] = [bundleOf(HONEST, all), bundleOf(FORGED, all)];

  promiseTest('bundle/equivocation', 'each holds alone, and their checkpoints contradict each other', () => {
    const [one, other] = [first, second].map((bundle) => verifyBundle(bundle, KEYS));
    expect([one, other].map((report) => report?.claims.some(({ holds }) => holds === 'no'))).toEqual([false, false]);
    expect(one?.checkpoint).toMatchObject({ origin: other?.checkpoint.origin, size: other?.checkpoint.size });
    expect(one?.checkpoint.root).not.toBe(other?.checkpoint.root);
    expect(one?.claims.find(({ about }) => about === 'witnesses')).toMatchObject({ holds: 'unknown' });
  });

  promiseTest('bundle/equivocation', 'a witness of the first gives the second no cosignature', () => {
    const witness = new TestKey(5, 'cosignature', 'witness.example');
    const keys = { ...KEYS, witnesses: [witness.verifierKey] };
    const cosignature = witness.cosign(first.head.checkpoint, 1_763_294_400);
    const withLine = (bundle: Bundle): Bundle => ({
      ...bundle,
      head: { ...bundle.head, checkpoint: bundle.head.checkpoint + cosignature },
    });
    expect(holdings(withLine(first), keys)['witnesses']).toBe('yes');
    expect(() => holdings(withLine(second), keys)).toThrow('witness.example does not hold');
    expect(holdings(second, keys)['witnesses']).toBe('no');
  });
});

describe('a stale witness', () => {
  const witness = new TestKey(5, 'cosignature', 'witness.example');
  const keys = { ...KEYS, witnesses: [witness.verifierKey] };
  const old = LOG_KEY.signCheckpoint(5, rootOf(HONEST.slice(0, 5)));
  const cosignature = witness.cosign(old, 1_763_294_400);

  promiseTest('bundle/equivocation', 'its cosignature of an earlier checkpoint is none of a later one', () => {
    const newest = LOG_KEY.signCheckpoint(SIZE, rootOf(HONEST));
    expect(() => holdings(bundleOf(HONEST, all, newest + cosignature), keys)).toThrow('does not hold');
  });

  promiseTest(
    'bundle/equivocation',
    'the report names the size and the time that it has seen, and no later one',
    () => {
      const entries = HONEST.slice(0, 5);
      const { claims, checkpoint } = verifyBundle(bundleOf(entries, [0, 1, 2, 3, 4], old + cosignature), keys);
      expect(checkpoint.size).toBe(5);
      expect(claims.find(({ about }) => about === 'witnesses')?.says).toContain('2025-11-16T12:00:00.000Z');
      expect(() => verifyBundle(bundleOf(HONEST, all, old + cosignature), keys)).toThrow('beyond the end');
    },
  );

  promiseTest('bundle/equivocation', 'its time cannot be changed', () => {
    const [head = '', encoded = ''] = cosignature.split(/ (?=\S+\n$)/);
    const bytes = Buffer.from(encoded, 'base64');
    bytes[11] = (bytes[11] ?? 0) + 1;
    const later = `${head} ${bytes.toString('base64')}\n`;
    const entries = HONEST.slice(0, 5);
    expect(() => verifyBundle(bundleOf(entries, [0, 1, 2, 3, 4], old + later), keys)).toThrow('does not hold');
  });
});
