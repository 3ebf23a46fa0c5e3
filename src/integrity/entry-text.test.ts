import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { always } from '../../test/support/properties.ts';
import { type Entry, encodeEntry } from './entry.ts';
import { chainedText, findExtras, readEnter, readExit } from './entry-text.ts';
import { sha256 } from './sha256.ts';

const text = fc.string({ unit: 'grapheme' });
const count = fc.nat();
const digest = text.map(sha256);
const escaped = (value: string) => JSON.stringify(value).slice(1, -1);

/** The digest is found in the text of the entry, and in no other that is nearly the same. */
function expectFound(entry: Entry, field: 'extras', find: (text: string) => string | undefined): void {
  const hash = entry[field] as string;
  expect(find(encodeEntry(entry))).toBe(hash);
  for (const other of [hash.slice(1), `${hash}0`, hash.toUpperCase(), `${hash.slice(1)}"`, `${hash.slice(1)}g`, ''])
    if (other !== hash) expect(find(encodeEntry({ ...entry, [field]: other }))).toBe(undefined);
  for (const other of [{ actor: `${entry.actor}x` }, { at: `x${entry.at}` }, { x: 1 }, { v: 2 }, { kind: 'genesis' }])
    expect(find(encodeEntry({ ...entry, ...other } as Entry))).toBe(undefined);
  expect(find(`${encodeEntry(entry)} `)).toBe(undefined);
  expect(find('')).toBe(undefined);
}

function expectUnread(entry: Entry, field: 'arguments' | 'answer', read: (text: string) => unknown): void {
  const hash = entry[field] as string;
  for (const other of [hash.slice(1), `${hash}0`, hash.toUpperCase(), `${hash.slice(1)}"`, `${hash.slice(1)}g`, ''])
    if (other !== hash) expect(read(encodeEntry({ ...entry, [field]: other }))).toBe(undefined);
  for (const other of [{ x: 1 }, { v: 2 }, { kind: 'genesis' }, { actor: 1 }, { at: null }])
    expect(read(encodeEntry({ ...entry, ...other } as unknown as Entry))).toBe(undefined);
  for (const other of [`${encodeEntry(entry)} `, ` ${encodeEntry(entry)}`, `${encodeEntry(entry)}\n`, ''])
    expect(read(other)).toBe(undefined);
}

describe('the text of an entry', () => {
  it('reads the canonical text of an enter entry, and no other', () => {
    always(
      fc.property(text, digest, text, text, text, (actor, hash, at, process_id, tool) => {
        const entry: Entry = { v: 1, kind: 'action.enter', actor, arguments: hash, at, process_id, tool };
        const fields = { actor: escaped(actor), at: escaped(at), process_id: escaped(process_id) };
        expect(readEnter(encodeEntry(entry))).toEqual({ ...fields, arguments: hash });
        expectUnread(entry, 'arguments', readEnter);
      }),
    );
  });

  it('reads the canonical text of an exit entry, and no other', () => {
    always(
      fc.property(text, digest, text, count, text, count, (actor, answer, at, duration_ms, outcome, sequence_no) => {
        const entry: Entry = { v: 1, kind: 'action.exit', actor, answer, at, duration_ms, outcome, sequence_no };
        const fields = { actor: escaped(actor), at: escaped(at), outcome: escaped(outcome) };
        const numbers = { duration_ms: `${duration_ms}`, sequence_no: `${sequence_no}` };
        expect(readExit(encodeEntry(entry))).toEqual({ ...fields, ...numbers });
        expectUnread(entry, 'answer', readExit);
        for (const other of [-1, 0.5, '1', null])
          expect(readExit(encodeEntry({ ...entry, sequence_no: other }))).toBe(undefined);
      }),
    );
  });

  it.each(['\\u0041', '\\u001F', '\\u0008', '\\/', '\\x', '\n', '"', '\\'])(
    'refuses %j, which canonical JSON does not write in a string',
    (written) => {
      const entry: Entry = {
        v: 1,
        kind: 'action.enter',
        actor: 'ACTOR',
        arguments: sha256(''),
        at: '',
        process_id: '',
        tool: '',
      };
      expect(readEnter(encodeEntry(entry).replace('ACTOR', 'someone'))).toBeDefined();
      expect(readEnter(encodeEntry(entry).replace('ACTOR', () => written))).toBe(undefined);
    },
  );

  it('of a thought has the digest of its extras', () => {
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

  it('of a chained thought is what JSON.stringify makes of it', () => {
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
