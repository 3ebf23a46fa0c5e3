import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { VALUES } from '../../../../test/fuzz/hostile-values.ts';
import { compareLine, lineWithContent } from '../../../../test/fuzz/line-comparison.ts';
import { mutated } from '../../../../test/fuzz/mutations.ts';
import { signLog, WITH_CONTENT } from '../../../../test/fuzz/sample-log.ts';
import { unlessThrows } from '../../../../test/fuzz/target.ts';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { always } from '../../../../test/support/properties.ts';
import { canonicalize, NotCanonical } from '../../canonical-json.ts';
import { WORKFLOW_STATES } from '../../content-grammar.ts';
import { encodeEntry } from '../../entry.ts';
import { time } from '../../forms.ts';
import type { BundledEntry } from '../format.ts';
import { open } from '../verify.ts';
import { compileObject } from './byte-grammar.ts';
import { Scratch, SPARE } from './bytes/scratch.ts';
import { utf8 } from './bytes/utf8-bytes.ts';
import { Cursor } from './cursor.ts';
import { NewestTime } from './newest-time.ts';
import { takesPattern } from './read-pattern.ts';

const log = signLog();
const LINES = log.entries.map((entry) => canonicalize(entry));
const withContents = WITH_CONTENT.map(({ index }) => log.entries[index] as BundledEntry);

const PROVED = { isProved: true, holds: true };
const REFUSED = { isProved: false, holds: false };

/** The line of a task with other fields. */
function taskWith(entry: BundledEntry, changes: Readonly<Record<string, unknown>>): string {
  const content = JSON.parse(entry.disclosed?.text ?? '') as Record<string, unknown>;
  return lineWithContent(entry, canonicalize({ ...content, ...changes }));
}

describe('the fast reader of a line', () => {
  promiseTest('bundle/holds', 'proves an honest line of every kind, with content and without', () => {
    for (const line of LINES) expect(compareLine(line), line).toEqual(PROVED);
    for (const { index, entry } of log.entries)
      expect(compareLine(canonicalize({ index, entry })), entry).toEqual(PROVED);
  });

  promiseTest('bundle/holds', 'proves unusual content too', () => {
    const texts = ['é', '\u{1f426}', '"', '\\', '\n', '\t', '\u2028', 'x'.repeat(200)];
    for (const entry of withContents.filter(({ disclosed }) => disclosed?.text.includes('"Strict parser"')))
      for (const text of texts) {
        const content = (entry.disclosed?.text ?? '').replace('a\\nb', JSON.stringify(text).slice(1, -1));
        expect(compareLine(lineWithContent(entry, content)), content).toEqual(PROVED);
      }
    const [call] = withContents;
    for (const args of [
      { '\n': 1, '\t': 2 },
      { é: [{}, [], null, -1.5e-7], z: { b: 1, a: 2, a_: 3, a1: 4 } },
      { 'a"': 1, a: 2 },
    ])
      expect(compareLine(lineWithContent(call as BundledEntry, canonicalize(args)))).toEqual(PROVED);
  });

  promiseTest('bundle/strict', 'knows every escape, and no other', () => {
    const entry = log.entries[4] as BundledEntry;
    const described = (text: string) =>
      lineWithContent(
        entry,
        (entry.disclosed?.text ?? '').replace('a\\nb', () => text),
      );
    for (const text of ['\\"', '\\\\', '\\n', '\\r', '\\t', '\\\\n', '\\\\\\"'])
      expect(compareLine(described(text)), text).toEqual(PROVED);
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
    for (const text of refused) expect(compareLine(described(text)), text).toEqual(REFUSED);
    // A quotation mark that ends the text of the line, and not one of its content.
    const ended = described('\\"').replace('\\\\\\"', () => '\\\\"');
    expect(compareLine(ended)).toEqual(REFUSED);
  });

  promiseTest('bundle/holds', 'proves lines in any order', () => {
    const random = fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 40 });
    always(
      fc.property(random, (lines) => {
        for (const line of lines) expect(compareLine(line)).toEqual(PROVED);
      }),
      100,
    );
  });

  promiseTest('bundle/strict', 'knows every control character, and takes no other character for one', () => {
    const entry = log.entries[4] as BundledEntry;
    for (let code = 0; code <= 0x2100; code += 1) {
      const character = String.fromCharCode(code);
      const isControl = /\p{Cc}/u.test(character);
      const described = taskWith(entry, { description: `a${character}` });
      const isText = !isControl || /[\n\r\t]/.test(character);
      expect(compareLine(described), `${code}`).toEqual(isText ? PROVED : REFUSED);
      const titled = taskWith(entry, { title: `a${character}` });
      expect(compareLine(titled), `${code}`).toEqual(isControl ? REFUSED : PROVED);
      // Whether it is visible.
      compareLine(taskWith(entry, { title: character }));
    }
  });

  promiseTest('bundle/strict', 'refuses an item that is in a list twice', () => {
    const entry = log.entries[4] as BundledEntry;
    const labels = ['a', 'ab', 'b', 'é', '"', '\\', '\\"', 'a,b', '","', 'x', 'y', 'z'];
    for (let count = 0; count <= labels.length; count += 1) {
      const some = labels.slice(0, count);
      expect(compareLine(taskWith(entry, { labels: some })), `${count}`).toEqual(PROVED);
      for (let place = 0; place < count; place += 1)
        for (let twice = 0; twice < count; twice += 1)
          expect(compareLine(taskWith(entry, { labels: some.toSpliced(place, 0, some[twice] ?? '') }))).toEqual(
            REFUSED,
          );
    }
    const ids = Array.from({ length: 51 }, (_, number) => `T-${number + 1000}`);
    expect(compareLine(taskWith(entry, { depends_on: ids.slice(1) }))).toEqual(PROVED);
    expect(compareLine(taskWith(entry, { depends_on: ids }))).toEqual(REFUSED);
  });

  promiseTest('bundle/strict', 'knows the states of each workflow, and why a task is blocked', () => {
    const entry = log.entries[4] as BundledEntry;
    const states = [...Object.values(WORKFLOW_STATES).flat(), 'Done', ''];
    for (const [workflow, own] of Object.entries(WORKFLOW_STATES))
      for (const status of states)
        for (const blocked_reason of [null, 'why']) {
          const isState =
            (own as readonly string[]).includes(status) && (status === 'blocked') === (blocked_reason !== null);
          const line = taskWith(entry, { workflow, status, blocked_reason });
          expect(compareLine(line), line).toEqual(isState ? PROVED : REFUSED);
        }
  });

  promiseTest('bundle/strict', 'knows the length of every hash, and its digits', () => {
    const commit = log.entries.find(({ entry }) => entry.includes('"observed.commit"')) as BundledEntry;
    const { fields } = open(commit);
    for (let length = 0; length <= 70; length += 1) {
      const line = canonicalize({
        index: 1,
        entry: encodeEntry({ ...fields, tree: 'aB3'.repeat(24).slice(0, length) }),
      });
      expect(compareLine(line), `${length}`).toEqual(length >= 7 && length <= 64 ? PROVED : REFUSED);
    }
    for (let code = 1; code < 128; code += 1)
      for (const at of [0, 3, 6]) {
        const tree = '0000000'.split('').toSpliced(at, 1, String.fromCharCode(code)).join('');
        const line = canonicalize({ index: 1, entry: encodeEntry({ ...fields, tree }) });
        expect(compareLine(line), tree).toEqual(/^[0-9a-f]{7}$/i.test(tree) ? PROVED : REFUSED);
      }
  });

  promiseTest('bundle/holds', 'knows each of the sessions that a change of a task belongs to', () => {
    const entry = log.entries[4] as BundledEntry;
    const { fields } = open(entry);
    for (const numbers of [[], [1], [9999, 10_000], [1, 2, 999_999_999_999]]) {
      const sessions = numbers.map((number) => ({
        session_id: `A-${`${number}`.padStart(4, '0')}`,
        session_seq: number,
      }));
      expect(compareLine(canonicalize({ ...entry, entry: encodeEntry({ ...fields, sessions }) }))).toEqual(PROVED);
      const falling = encodeEntry({ ...fields, sessions: sessions.toReversed() });
      const isRising = numbers.length < 2;
      expect(compareLine(canonicalize({ ...entry, entry: falling }))).toEqual(isRising ? PROVED : REFUSED);
    }
  });

  promiseTest('bundle/holds', 'finds the first of the latest times', () => {
    const times = fc.array(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), {
      minLength: 1,
    });
    always(
      fc.property(times, (dates) => {
        const newest = new NewestTime();
        let latest = '';
        for (const text of dates.flatMap((date) => [date.toISOString(), date.toISOString()])) {
          expect(newest.isNext(new Scratch(utf8(text)), 0)).toBe(text > latest);
          if (text > latest) latest = text;
        }
      }),
      200,
    );
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
    expect(compareLine(lineWithContent(call as BundledEntry, nested(64)))).toEqual(PROVED);
    expect(compareLine(lineWithContent(call as BundledEntry, nested(65)))).toEqual(REFUSED);
  });

  promiseTest('bundle/forged', 'proves no line that the reference refuses: changed lines', () => {
    const counts = { proved: 0, held: 0 };
    always(
      fc.property(mutated(LINES), ({ input }) => {
        const { isProved, holds } = compareLine(input);
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
        compareLine(Buffer.concat([line.subarray(0, at), line.subarray(at + 1)]));
        compareLine(Buffer.concat([line.subarray(0, at), Buffer.of(byte), line.subarray(at)]));
        compareLine(
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
        const { isProved, holds } = compareLine(lineWithContent(texts.get(sample) as BundledEntry, input));
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
        const { isProved, holds } = compareLine(canonicalize({ index, entry: input }));
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
        if (text !== undefined) compareLine(lineWithContent(entry, text));
        const content = JSON.parse(entry.disclosed?.text ?? '{}') as Record<string, unknown>;
        for (const name of [...Object.keys(content), 'unknown']) {
          const changed = unlessThrows(NotCanonical, () => canonicalize({ ...content, [name]: value }));
          if (changed !== undefined) compareLine(lineWithContent(entry, changed));
        }
      }
  });
});
