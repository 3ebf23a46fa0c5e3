import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { VALUES } from '../../../../test/fuzz/hostile-values.ts';
import { mutated } from '../../../../test/fuzz/mutations.ts';
import { signLog, WITH_CONTENT } from '../../../../test/fuzz/sample-log.ts';
import { unlessThrows } from '../../../../test/fuzz/target.ts';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { always } from '../../../../test/support/properties.ts';
import { BadFormat } from '../../bad-format.ts';
import { canonicalize, NotCanonical } from '../../canonical-json.ts';
import { encodeEntry, saltedDigest } from '../../entry.ts';
import { time } from '../../forms.ts';
import { toHex } from '../../hex.ts';
import { leafHash } from '../../merkle.ts';
import { CONTENT, disclosedDefect } from '../disclosed.ts';
import { type BundledEntry, parseBundledEntry } from '../format.ts';
import { decodeUtf8 } from '../utf8.ts';
import { type OpenedEntry, open } from '../verify.ts';
import { compileObject } from './byte-grammar.ts';
import { Scratch, SPARE } from './bytes/scratch.ts';
import { utf8 } from './bytes/utf8-bytes.ts';
import { Cursor } from './cursor.ts';
import { LineProver } from './line-prover.ts';
import { NewestTime } from './newest-time.ts';
import type { LineFacts } from './proved-entry.ts';
import { takesPattern } from './read-pattern.ts';

const log = signLog();
const LINES = log.entries.map((entry) => canonicalize(entry));
const SALT = '000102030405060708090a0b0c0d0e0f';
/** One for all lines, as in a bundle: what it remembers of one must not change what it says of another. */
const prover = new LineProver(new NewestTime());

function prove(line: Uint8Array): LineFacts | undefined {
  const bytes = new Uint8Array(line.length + 1 + SPARE).fill(0x22);
  bytes.set(line);
  bytes[line.length] = 0x0a;
  const facts = prover.prove(new Scratch(bytes), 0);
  if (facts !== undefined) expect(prover.end).toBe(line.length);
  return facts;
}

/** By the reference; undefined if it refuses the line or its content. */
function openLine(line: Uint8Array): OpenedEntry | undefined {
  const entry = unlessThrows(BadFormat, () => open(parseBundledEntry(decodeUtf8(line, 'the line'))));
  if (entry?.disclosed === undefined) return entry;
  return disclosedDefect(entry.fields, entry.disclosed) === undefined ? entry : undefined;
}

/** Both on one line. Returns whether it was proved, and whether it holds. */
function compare(text: string | Uint8Array): { readonly isProved: boolean; readonly holds: boolean } {
  const line = typeof text === 'string' ? Buffer.from(text) : text;
  // No line contains a line feed.
  if (line.includes(0x0a)) return { isProved: false, holds: false };
  const facts = prove(line);
  const entry = openLine(line);
  if (facts === undefined) return { isProved: false, holds: entry !== undefined };
  if (entry === undefined) throw new Error(`proved what the reference refuses: ${decodeUtf8(line, 'the line')}`);
  const { fields, disclosed } = entry;
  expect(facts).toMatchObject({ index: entry.index, kind: fields.kind, isDisclosed: disclosed !== undefined });
  expect(toHex(facts.leaf)).toBe(leafHash(entry.entry));
  expect(facts.record !== undefined).toBe(fields.kind === 'thought' || fields.kind.startsWith('task.'));
  if (facts.record === undefined) return { isProved: true, holds: true };
  const sessions = (fields['sessions'] ?? [fields]) as { readonly session_id: string }[];
  expect(facts.record.task).toBe(Number((fields['task_id'] as string).slice(2)));
  expect(facts.record.sessions).toEqual(sessions.map(({ session_id }) => Number(session_id.slice(2))));
  const { link } = facts.record;
  expect(
    link && { position: link.position, hash: toHex(link.hash), previous: link.previous && toHex(link.previous) },
  ).toEqual(
    fields.kind === 'thought'
      ? { position: fields['chain_position'], hash: fields['hash'], previous: disclosed?.thought?.previous_hash }
      : undefined,
  );
  return { isProved: true, holds: true };
}

/** A line with the digest of another content, as the owner of the key can write it. */
function withContent({ index, entry, disclosed }: BundledEntry, text: string): string {
  const fields = open({ index, entry }).fields;
  const [field = '', label = 'task'] = CONTENT[fields.kind] ?? [];
  const changed = encodeEntry({ ...fields, [field]: saltedDigest(label, SALT, text) });
  return canonicalize({ index, entry: changed, disclosed: { ...disclosed, salt: SALT, text } });
}

const withContents = WITH_CONTENT.map(({ index }) => log.entries[index] as BundledEntry);

describe('the fast reader of a line', () => {
  promiseTest('bundle/holds', 'proves an honest line of every kind, with content and without', () => {
    for (const line of LINES) expect(compare(line), line).toEqual({ isProved: true, holds: true });
    for (const { index, entry } of log.entries)
      expect(compare(canonicalize({ index, entry })), entry).toEqual({ isProved: true, holds: true });
  });

  promiseTest('bundle/holds', 'proves unusual content too', () => {
    const texts = ['é', '\u{1f426}', '"', '\\', '\n', '\t', '\u2028', 'x'.repeat(200)];
    for (const entry of withContents.filter(({ disclosed }) => disclosed?.text.includes('"Strict parser"')))
      for (const text of texts) {
        const content = (entry.disclosed?.text ?? '').replace('a\\nb', JSON.stringify(text).slice(1, -1));
        expect(compare(withContent(entry, content)), content).toEqual({ isProved: true, holds: true });
      }
    const [call] = withContents;
    for (const args of [
      { '\n': 1, '\t': 2 },
      { é: [{}, [], null, -1.5e-7], z: { b: 1, a: 2, a_: 3, a1: 4 } },
      { 'a"': 1, a: 2 },
    ])
      expect(compare(withContent(call as BundledEntry, canonicalize(args)))).toEqual({ isProved: true, holds: true });
  });

  promiseTest('bundle/strict', 'knows every escape, and no other', () => {
    const entry = log.entries[4] as BundledEntry;
    const described = (text: string) =>
      withContent(
        entry,
        (entry.disclosed?.text ?? '').replace('a\\nb', () => text),
      );
    for (const text of ['\\"', '\\\\', '\\n', '\\r', '\\t', '\\\\n', '\\\\\\"'])
      expect(compare(described(text)), text).toEqual({ isProved: true, holds: true });
    const refused = [
      '\\\n',
      '\\\t',
      '\n',
      '\0',
      '\\x',
      '\\/',
      '\\u0041',
      '\\u000a',
      '\\u001F',
      '\\u007f',
      '\\b',
      '\\u0000',
      '"',
      '\\',
    ];
    for (const text of refused) expect(compare(described(text)), text).toEqual({ isProved: false, holds: false });
    // A quotation mark that ends the text of the line, and not one of its content.
    const ended = described('\\"').replace('\\\\\\"', () => '\\\\"');
    expect(compare(ended)).toEqual({ isProved: false, holds: false });
  });

  promiseTest('bundle/strict', 'knows no time before the first one', () => {
    const takesFirst = (text: string) => {
      const bytes = new Uint8Array(text.length + SPARE);
      bytes.set(utf8(text));
      const cursor = new Cursor();
      cursor.start(new Scratch(bytes), 0, new Scratch(new Uint8Array(SPARE)), 0);
      return takesPattern(cursor, compileObject({ at: time }));
    };
    for (const minute of ['2026-04-08T22:15', '1970-01-01T00:00'])
      expect(takesFirst(`{\\"at\\":\\"${minute}:30.000Z\\"}`)).toBe(true);
    for (const minute of ['\0', '0', ' ', '"', '\x7f'])
      expect(takesFirst(`{\\"at\\":\\"${minute.repeat(16)}:30.000Z\\"}`), JSON.stringify(minute)).toBe(false);
  });

  promiseTest('bundle/strict', 'proves arguments of depth 64 and none of 65', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
    const [call] = withContents;
    expect(compare(withContent(call as BundledEntry, nested(64)))).toEqual({ isProved: true, holds: true });
    expect(compare(withContent(call as BundledEntry, nested(65)))).toEqual({ isProved: false, holds: false });
  });

  promiseTest('bundle/forged', 'proves no line that the reference refuses: changed lines', () => {
    const counts = { proved: 0, held: 0 };
    always(
      fc.property(mutated(LINES), ({ input }) => {
        const { isProved, holds } = compare(input);
        if (isProved) counts.proved += 1;
        if (holds) counts.held += 1;
      }),
      6000,
    );
    // Not because it proves nothing.
    expect(counts.proved).toBeGreaterThan(30);
    expect(counts.proved / counts.held).toBeGreaterThan(0.95);
  });

  promiseTest('bundle/forged', 'proves no line that the reference refuses: every byte of every line, changed', () => {
    const bytes = [0x00, 0x0d, 0x20, 0x22, 0x2c, 0x30, 0x5c, 0x61, 0x7f, 0x80, 0xbf, 0xc2, 0xed, 0xf4, 0xff];
    for (const text of LINES) {
      const line = Buffer.from(text);
      for (let at = 0; at < line.length; at += 1) {
        const byte = bytes[at % bytes.length] as number;
        compare(Buffer.concat([line.subarray(0, at), line.subarray(at + 1)]));
        compare(Buffer.concat([line.subarray(0, at), Buffer.of(byte), line.subarray(at)]));
        compare(
          Buffer.concat([line.subarray(0, at), Buffer.of((line[at] ?? 0) ^ (1 << (at % 8))), line.subarray(at + 1)]),
        );
      }
    }
  });

  promiseTest('bundle/forged', 'proves no content that the reference refuses, if its digest is right', () => {
    const counts = { proved: 0, held: 0 };
    const texts = new Map(withContents.map((entry) => [entry.disclosed?.text ?? '', entry]));
    always(
      fc.property(mutated([...texts.keys()]), ({ sample, input }) => {
        if (!input.isWellFormed()) return;
        const { isProved, holds } = compare(withContent(texts.get(sample) as BundledEntry, input));
        if (isProved) counts.proved += 1;
        if (holds) counts.held += 1;
      }),
      6000,
    );
    expect(counts.proved).toBeGreaterThan(100);
    expect(counts.proved / counts.held).toBeGreaterThan(0.95);
  });

  promiseTest('bundle/forged', 'proves no entry that the reference refuses', () => {
    const counts = { proved: 0, held: 0 };
    const entries = log.entries.map(({ entry }) => entry);
    always(
      fc.property(mutated(entries), fc.nat(), ({ input }, index) => {
        if (!input.isWellFormed()) return;
        const { isProved, holds } = compare(canonicalize({ index, entry: input }));
        if (isProved) counts.proved += 1;
        if (holds) counts.held += 1;
      }),
      6000,
    );
    expect(counts.proved).toBeGreaterThan(30);
    expect(counts.proved / counts.held).toBeGreaterThan(0.95);
  });

  promiseTest('bundle/forged', 'proves no hostile value as content or in a field', () => {
    for (const entry of withContents)
      for (const value of VALUES) {
        const text = unlessThrows(NotCanonical, () => canonicalize(value));
        if (text !== undefined) compare(withContent(entry, text));
        const content = JSON.parse(entry.disclosed?.text ?? '{}') as Record<string, unknown>;
        for (const name of [...Object.keys(content), 'unknown']) {
          const changed = unlessThrows(NotCanonical, () => canonicalize({ ...content, [name]: value }));
          if (changed !== undefined) compare(withContent(entry, changed));
        }
      }
  });
});
