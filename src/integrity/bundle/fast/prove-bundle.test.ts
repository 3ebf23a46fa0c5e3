import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { mutated } from '../../../../test/fuzz/mutations.ts';
import { type Recorded, signLog, WITH_CONTENT } from '../../../../test/fuzz/sample-log.ts';
import { SignedLog } from '../../../../test/proofs/fixtures/signed-log.ts';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { always } from '../../../../test/support/properties.ts';
import { createEntries, LOG_KEY, rootOf, SALT, TestKey } from '../../../../test/vectors/signed-log.ts';
import { BadFormat } from '../../bad-format.ts';
import { type Entry, encodeEntry, saltedDigest } from '../../entry.ts';
import { thoughtHash } from '../../hash-chain.ts';
import { parseVerifierKey } from '../../notes/signed-note.ts';
import { redactionNote, withoutText } from '../../redaction/erasure.ts';
import { BUNDLE_FORMAT, type BundledEntry, formatBundle } from '../format.ts';
import { decodeUtf8 } from '../utf8.ts';
import { type BundleReport, open, type TrustedKeys } from '../verify.ts';
import { verifyBytes, verifyText } from '../verify-text.ts';
import { SPARE } from './bytes/scratch.ts';
import { proveBundle } from './prove-bundle.ts';

const log = signLog();
const KEYS = { log: [parseVerifierKey(log.key)] };
const indexes = log.entries.map(({ index }) => index);

const VECTOR_KEYS = { log: [LOG_KEY.verifierKey] };

const TIME = '2026-04-08T22:15:30.000Z';

function bundleOf(entries: readonly BundledEntry[], checkpoint: string): string {
  const head = { format: BUNDLE_FORMAT, checkpoint, scope: { kind: 'ledger' }, redacted: false } as const;
  const counts = { entry_count: entries.length, hash_count: 0 };
  return [...formatBundle({ head: { ...head, ...counts }, entries, hashes: [] })].join('');
}

/** A log of calls. */
function bundleOfCalls(size: number, cosign = (checkpoint: string) => checkpoint): string {
  const entries = createEntries(size);
  return bundleOf(entries, cosign(LOG_KEY.signCheckpoint(size, rootOf(entries))));
}

/** Everything that a report says. */
function contentOf({ claims, entries, checkpoint, hashes }: BundleReport): unknown {
  const plain = entries.map(({ index, entry, disclosed, fields }) => ({ index, entry, disclosed, fields }));
  return { claims, entries: plain, checkpoint, hashes };
}

function outcomeOf(judge: () => BundleReport): unknown {
  try {
    return contentOf(judge());
  } catch (error) {
    if (error instanceof BadFormat) return error.message;
    throw error;
  }
}

/** Judges a file both ways. Returns whether it was proved by the fast one. */
function compare(file: string | Uint8Array, keys: TrustedKeys = KEYS): boolean {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  const expected = outcomeOf(() => verifyText(decodeUtf8(bytes, 'the file'), keys));
  const proved = proveBundle(bytes, keys);
  if (proved !== undefined) expect(contentOf(proved)).toEqual(expected);
  expect(outcomeOf(() => verifyBytes(bytes, keys))).toEqual(expected);
  return proved !== undefined;
}

describe('the fast verifier of bundles', () => {
  promiseTest('bundle/holds', 'proves honest bundles, and says the same as the reference', () => {
    expect(compare(log.bundle())).toBe(true);
    for (let first = 0; first < indexes.length; first += 1) {
      expect(compare(log.bundle(indexes.slice(first)))).toBe(true);
      expect(compare(log.bundle(indexes.filter((index) => index !== first)))).toBe(true);
      expect(compare(log.bundle([first], { kind: 'entry', index: first }))).toBe(true);
    }
    const bare = new SignedLog(log.entries.map(({ index, entry }) => ({ index, entry })));
    expect(compare(bare.bundle(), { log: [parseVerifierKey(bare.key)] })).toBe(true);
    for (const size of [1, 2, 3, 7, 64, 100]) expect(compare(bundleOfCalls(size), VECTOR_KEYS)).toBe(true);
  });

  promiseTest('bundle/holds', 'proves bundles of any length, also the shortest', () => {
    const key = new TestKey(1, 'note', 'x');
    const lengths = new Set<number>();
    for (let letters = 0; letters < 300; letters += 1) {
      const actor = 'a'.repeat(letters);
      const entry = encodeEntry({ v: 1, kind: 'action.interrupted', at: TIME, actor, sequence_no: 1 });
      const checkpoint = key.signCheckpoint(1, rootOf([{ index: 0, entry }]), 'x');
      const bundle = bundleOf([{ index: 0, entry }], checkpoint);
      expect(compare(bundle, { log: [key.verifierKey] }), `${bundle.length}`).toBe(true);
      // Also if lines are missing, and if there are more.
      for (const more of ['', bundle, '\n'.repeat(letters)]) compare(bundle.slice(letters) + more);
      lengths.add(bundle.length);
    }
    for (const length of [SPARE - 1, SPARE, SPARE + 1]) expect(lengths).toContain(length);
  });

  promiseTest('bundle/key', 'proves nothing under another key', () => {
    expect(compare(log.bundle(), { log: [LOG_KEY.verifierKey] })).toBe(false);
    expect(compare(log.bundle(), { log: [] })).toBe(false);
  });

  promiseTest('bundle/forged', 'says the same as the reference about changed bundles', () => {
    const samples = [log.bundle(), log.bundle([4, 7, 8, 9, 10]), log.bundle([2, 3, 16]), bundleOfCalls(5)];
    always(
      fc.property(mutated(samples), ({ input }) => void compare(input)),
      1000,
    );
  });

  promiseTest(
    'bundle/forged',
    'says the same as the reference about changed bytes, also if these are not UTF-8',
    () => {
      const honest = Buffer.from(log.bundle());
      const edits = fc.array(fc.tuple(fc.nat(honest.length), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 3,
      });
      always(
        fc.property(edits, fc.constantFrom('replace', 'insert', 'delete', 'cut'), (changes, what) => {
          let bytes = Buffer.from(honest);
          for (const [at, byte] of changes) {
            const rest = bytes.subarray(what === 'replace' || what === 'delete' ? at + 1 : at);
            const added = what === 'replace' || what === 'insert' ? [Buffer.of(byte)] : [];
            bytes = Buffer.concat([bytes.subarray(0, at), ...added, ...(what === 'cut' ? [] : [rest])]);
          }
          compare(bytes);
        }),
        1000,
      );
    },
  );

  promiseTest('bundle/forged', 'says the same about content that the owner of the key has changed', () => {
    const samples = WITH_CONTENT.map(({ record }) => record.content?.text ?? '');
    always(
      fc.property(mutated(samples), ({ sample, input }) => {
        const found = WITH_CONTENT.find(({ record }) => record.content?.text === sample);
        const content = found?.record.content;
        if (found === undefined || content === undefined || !input.isWellFormed()) return;
        const signed = signLog({
          index: found.index,
          record: { ...found.record, content: { ...content, text: input } },
        });
        compare(signed.bundle(), { log: [parseVerifierKey(signed.key)] });
      }),
      300,
    );
  });
});

describe('the fast verifier of chains and sessions', () => {
  const thoughts = log.entries.filter(({ entry }) => entry.includes('"kind":"thought"'));
  const [, second] = thoughts as [BundledEntry, BundledEntry];
  const { fields } = open(second);

  /** The second thought with another link, and the hash that this gives it. */
  const linkedTo = (previous_hash: string | null): SignedLog => {
    const thought = { type: 'decision', content: 'and so', previous_hash };
    const hashed = { ...thought, task_id: 'T-0001', recorded_at: fields.at, recorded_by: fields.actor };
    const honest = WITH_CONTENT.find(({ index }) => index === second.index)?.record as Recorded;
    const record = { ...honest, fields: { ...honest.fields, hash: thoughtHash(hashed) }, thought };
    return signLog({ index: second.index, record });
  };
  const compareLog = (signed: SignedLog) => compare(signed.bundle(), { log: [parseVerifierKey(signed.key)] });

  promiseTest('bundle/forged', 'proves no thought that links to another one', () => {
    const { hash } = open(thoughts[0] as BundledEntry).fields;
    expect(compareLog(linkedTo(hash as string))).toBe(true);
    expect(compareLog(linkedTo('f'.repeat(64)))).toBe(false);
    expect(compareLog(linkedTo(null))).toBe(false);
  });

  promiseTest('bundle/forged', 'counts the places of a chain exactly, up to the largest', () => {
    const [first] = thoughts as [BundledEntry];
    const { hash } = open(first).fields;
    /** Both thoughts alone, at this place of their chain and at the one before it. */
    const compareAt = (position: number, signed: SignedLog) => {
      const moved = signed.entries.map(({ entry, ...rest }) => ({
        ...rest,
        entry: entry.replace(
          /"chain_position":([12])/,
          (_, place) => `"chain_position":${position - 2 + Number(place)}`,
        ),
      }));
      return compare(new SignedLog(moved).bundle([first.index, second.index]));
    };
    for (let below = 0; below < 60; below += 1) {
      const position = Number.MAX_SAFE_INTEGER - below;
      expect(compareAt(position, linkedTo(hash as string)), `${position}`).toBe(true);
      expect(compareAt(position, linkedTo('f'.repeat(64))), `${position}`).toBe(false);
    }
  });

  promiseTest('bundle/forged', 'proves no session with another root', () => {
    const seal = log.entries.find(({ entry }) => entry.includes('session.finalized')) as BundledEntry;
    for (const changed of [{ root: '0'.repeat(64) }, { leaf_count: 2 }])
      expect(compareLog(signLog({ index: seal.index, record: { kind: 'session.finalized', fields: changed } }))).toBe(
        false,
      );
    const more = { index: seal.index, record: { kind: 'session.finalized', fields: { leaf_count: 4 } } } as const;
    expect(compareLog(signLog(more))).toBe(true);
    const ofTask = { kind: 'session.finalized', fields: { task_id: 'T-0001' } } as const;
    expect(compareLog(signLog({ index: seal.index, record: ofTask }))).toBe(true);
    const ofOther = { kind: 'session.finalized', fields: { task_id: 'T-0002' } } as const;
    expect(compareLog(signLog({ index: seal.index, record: ofOther }))).toBe(true);
  });
});

describe('the fast verifier of redacted bundles', () => {
  const at = '2026-04-09T08:00:00.000Z';
  const redact = (redacts: number, remains?: string): Entry => ({
    v: 1,
    kind: 'redaction',
    at,
    actor: 'person:ada',
    redacts,
    reason: saltedDigest('redaction', SALT, '{"reason":"secret"}'),
    ...(remains !== undefined && { remains }),
  });
  const note = redactionNote(redact(4));
  const remains = withoutText(log.entries[4]?.disclosed?.text ?? '', note);
  const disclosed = { salt: SALT, text: '{"reason":"secret"}' };
  const last = log.entries.length;
  const bundleWith = (entries: readonly BundledEntry[]) => {
    const signed = new SignedLog(entries);
    return [signed.bundle(), { log: [parseVerifierKey(signed.key)] }] as const;
  };
  const change = (index: number, changed: Partial<BundledEntry>) =>
    log.entries.map((entry) => (entry.index === index ? { ...entry, ...changed } : entry));
  const without = (index: number) =>
    log.entries.map((entry) => (entry.index === index ? { index, entry: entry.entry } : entry));
  const redaction = { index: last, entry: encodeEntry(redact(7)), disclosed };
  const ofTask = { index: last, entry: encodeEntry(redact(4, saltedDigest('task', SALT, remains))), disclosed };

  promiseTest('bundle/redacted', 'proves what was removed, and what remains of a task', () => {
    expect(compare(...bundleWith([...without(7), redaction]))).toBe(true);
    expect(compare(...bundleWith([...change(4, { disclosed: { salt: SALT, text: remains } }), ofTask]))).toBe(true);
  });

  promiseTest('bundle/forged', 'proves no content that a redaction has removed', () => {
    expect(compare(...bundleWith([...log.entries, redaction]))).toBe(false);
    expect(compare(...bundleWith([...log.entries, ofTask]))).toBe(false);
    expect(compare(...bundleWith(change(4, { disclosed: { salt: SALT, text: remains } })))).toBe(false);
    expect(compare(...bundleWith([...without(7), redaction, { ...redaction, index: last + 1 }]))).toBe(false);
    expect(compare(...bundleWith([...without(5), { ...redaction, entry: encodeEntry(redact(5)) }]))).toBe(false);
  });
});

describe('the fast verifier of cosigned bundles', () => {
  const witness = new TestKey(5, 'cosignature', 'witness.example');
  const keys = { ...VECTOR_KEYS, witnesses: [witness.verifierKey] };
  const signedAt = Date.parse('2026-11-16T12:00:00.000Z') / 1000;

  promiseTest('bundle/holds', 'states the first entry that is younger than a cosignature', () => {
    for (const time of [signedAt, signedAt - 599, signedAt - 600, signedAt - 601, 0])
      expect(
        compare(
          bundleOfCalls(5, (checkpoint) => checkpoint + witness.cosign(checkpoint, time)),
          keys,
        ),
      ).toBe(true);
    expect(compare(bundleOfCalls(5), keys)).toBe(false);
  });
});
