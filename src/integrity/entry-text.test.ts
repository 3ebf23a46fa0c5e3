import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { always } from '../../test/support/always.ts';
import { type Entry, encodeEntry } from './entry.ts';
import { chainedText, enterText, isExitText, thoughtText } from './entry-text.ts';
import { sha256 } from './sha256.ts';

const text = fc.string({ unit: 'grapheme' });
const count = fc.nat();
const digest = text.map(sha256);
const escaped = (value: string) => JSON.stringify(value).slice(1, -1);

describe('the text of an entry', () => {
  it('is the same for an enter entry as that of its object', () => {
    always(
      fc.property(text, digest, text, text, text, (actor, hash, at, process_id, tool) => {
        const entry: Entry = { v: 1, kind: 'action.enter', actor, arguments: hash, at, process_id, tool };
        const fields = { actor: escaped(actor), arguments: hash, at: escaped(at) };
        const written = enterText({ ...fields, process_id: escaped(process_id), tool: escaped(tool) });
        expect(written).toBe(encodeEntry(entry));
      }),
    );
  });

  it('is the same for an exit entry as that of its object', () => {
    always(
      fc.property(text, digest, text, count, text, count, (actor, answer, at, duration_ms, outcome, sequence_no) => {
        const entry: Entry = { v: 1, kind: 'action.exit', actor, answer, at, duration_ms, outcome, sequence_no };
        const fields = {
          actor: escaped(actor),
          at: escaped(at),
          duration_ms: String(duration_ms),
          outcome: escaped(outcome),
          sequence_no: String(sequence_no),
        };
        expect(isExitText(encodeEntry(entry), fields)).toBe(true);
        for (const other of [answer.slice(1), `${answer}0`, answer.toUpperCase(), `${answer.slice(1)}"`, ''])
          if (other !== answer) expect(isExitText(encodeEntry({ ...entry, answer: other }), fields)).toBe(false);
        expect(isExitText(encodeEntry({ ...entry, actor: `${actor}x` }), fields)).toBe(false);
        expect(isExitText(encodeEntry({ ...entry, x: 1 }), fields)).toBe(false);
      }),
    );
  });

  it('is the same for a thought as that of its object', () => {
    always(
      fc.property(text, text, count, digest, digest, count, (actor, at, number, extras, hash, session_seq) => {
        const ids = { session_id: 'A-0001', task_id: 'T-0001', thought_id: `\u0398-${number}` };
        const numbered = { attempt: number, chain_position: number, session_seq };
        const entry: Entry = { v: 1, kind: 'thought', actor, at, extras, hash, ...numbered, ...ids };
        const numbers = { attempt: `${number}`, chain_position: `${number}`, session_seq: `${session_seq}` };
        const written = thoughtText({ ...ids, ...numbers, actor: escaped(actor), at: escaped(at), extras, hash });
        expect(written).toBe(encodeEntry(entry));
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
