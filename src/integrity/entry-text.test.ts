import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { always } from '../../test/support/properties.ts';
import { type Entry, encodeEntry } from './entry.ts';
import { chainedText, findExtras, readEnter, readExit } from './entry-text.ts';
import { OUTCOMES } from './outcomes.ts';
import { sha256 } from './sha256.ts';

const text = fc.string({ unit: 'grapheme' });
const count = fc.nat();
const digest = text.map(sha256);
const AT = '2026-04-08T22:15:30.000Z';
const UUID = '01234567-89ab-4def-8123-456789abcdef';
const escaped = (value: string) => JSON.stringify(value).slice(1, -1);

/** The digest is found in the text of the entry, and in no other that is nearly the same. */
function expectFound(entry: Entry, field: 'extras', find: (text: string) => string | undefined): void {
  const hash = entry[field] as string;
  expect(find(encodeEntry(entry))).toBe(hash);
  for (const other of [hash.slice(1), `${hash}0`, `${hash.slice(1)}"`, ''])
    expect(find(encodeEntry({ ...entry, [field]: other }))).toBe(undefined);
  for (const other of [{ actor: `${entry.actor}x` }, { at: `x${entry.at}` }, { x: 1 }, { v: 2 }, { kind: 'genesis' }])
    expect(find(encodeEntry({ ...entry, ...other } as Entry))).toBe(undefined);
  expect(find(`${encodeEntry(entry)} `)).toBe(undefined);
  expect(find('')).toBe(undefined);
}

function expectUnread(entry: Entry, field: 'arguments' | 'answer', read: (text: string) => unknown): void {
  const hash = entry[field] as string;
  for (const other of [hash.slice(1), `${hash}0`, `${hash.slice(1)}"`, ''])
    expect(read(encodeEntry({ ...entry, [field]: other }))).toBe(undefined);
  for (const other of [
    { x: 1 },
    { v: 2 },
    { kind: 'genesis' },
    { actor: 1 },
    { at: null },
    { at: '2026-02-30T22:15:30.000Z' },
  ])
    expect(read(encodeEntry({ ...entry, ...other } as unknown as Entry))).toBe(undefined);
  for (const other of [`${encodeEntry(entry)} `, ` ${encodeEntry(entry)}`, `${encodeEntry(entry)}\n`, ''])
    expect(read(other)).toBe(undefined);
}

describe('the text of an entry', () => {
  it('reads the canonical text of an enter entry, and no other', () => {
    always(
      fc.property(text, digest, text, (actor, hash, tool) => {
        const entry: Entry = { v: 1, kind: 'action.enter', actor, arguments: hash, at: AT, process_id: UUID, tool };
        expect(readEnter(encodeEntry(entry))).toEqual({ actor: escaped(actor), digest: hash });
        expectUnread(entry, 'arguments', readEnter);
        for (const process_id of ['', UUID.toUpperCase(), UUID.slice(1), `${UUID}0`, null])
          expect(readEnter(encodeEntry({ ...entry, process_id }))).toBe(undefined);
      }),
    );
  });

  it('reads the canonical text of an exit entry, and no other', () => {
    always(
      fc.property(text, digest, count, fc.constantFrom(...OUTCOMES), count, (actor, answer, ms, outcome, number) => {
        const numbers = { duration_ms: ms, sequence_no: number + 1 };
        const entry: Entry = { v: 1, kind: 'action.exit', actor, answer, at: AT, outcome, ...numbers };
        expect(readExit(encodeEntry(entry))).toEqual({ actor: escaped(actor), sequence_no: `${number + 1}` });
        expectUnread(entry, 'answer', readExit);
        for (const other of [-1, 0, 0.5, 1e15, '1', null])
          expect(readExit(encodeEntry({ ...entry, sequence_no: other }))).toBe(undefined);
        for (const other of [-1, 0.5, 1e15, '1', null])
          expect(readExit(encodeEntry({ ...entry, duration_ms: other }))).toBe(undefined);
        for (const other of ['', 'OK', 'ok"', 'ERR', 1])
          expect(readExit(encodeEntry({ ...entry, outcome: other }))).toBe(undefined);
        for (const other of [answer.toUpperCase(), `${answer.slice(1)}g`])
          if (other !== answer) expect(readExit(encodeEntry({ ...entry, answer: other }))).toBe(undefined);
        const zero = encodeEntry(entry).replace('"sequence_no":', '"sequence_no":0');
        expect(readExit(zero)).toBe(undefined);
      }),
    );
  });

  it.each(['\\u0041', '\\u001F', '\\u0008', '\\/', '\\x', '\n', '\u0000', '"', '\\'])(
    'refuses %j, which canonical JSON does not write in a string',
    (written) => {
      const fields = { arguments: sha256(''), at: AT, process_id: UUID, tool: 'TOOL' };
      const entry = encodeEntry({ v: 1, kind: 'action.enter', actor: 'ACTOR', ...fields });
      for (const name of ['ACTOR', 'TOOL']) {
        expect(readEnter(entry.replace(name, 'someone'))).toBeDefined();
        expect(readEnter(entry.replace(name, () => written))).toBe(undefined);
        expect(readEnter(entry.replace(name, () => `\\n${written}`))).toBe(undefined);
      }
    },
  );

  it('finds the digest of the extras in the text of a thought', () => {
    always(
      fc.property(text, text, count, digest, digest, count, (actor, at, number, extras, hash, session_seq) => {
        const ids = { session_id: 'A-0001', task_id: 'T-0001', thought_id: `\u0398-${number}` };
        const numbered = { attempt: number, chain_position: number, session_seq };
        const entry: Entry = { v: 1, kind: 'thought', actor, at, extras, hash, ...numbered, ...ids };
        const numbers = { attempt: `${number}`, chain_position: `${number}`, session_seq: `${session_seq}` };
        const fields = { ...ids, ...numbers, actor: escaped(actor), at: escaped(at), hash };
        expectFound(entry, 'extras', (candidate) => findExtras(candidate, fields));
      }),
    );
  });

  it('writes a chained thought like JSON.stringify', () => {
    always(
      fc.property(text, text, fc.option(digest), (type, content, previous_hash) => {
        const rest = { recorded_at: '2026-01-02T03:04:05.678Z', recorded_by: 'tester' };
        const thought = { task_id: 'T-0001', type, content, previous_hash, ...rest };
        const fields = { ...thought, type: escaped(type), content: escaped(content) };
        expect(chainedText(fields)).toBe(JSON.stringify(thought));
      }),
    );
  });
});
