import { describe, expect, it } from 'vitest';
import { RULE_CODES, STAGE_CODES } from '../errors.ts';
import { ENTRY_KINDS, type Entry, type EntryKind } from './entry.ts';
import { ENTRY_GRAMMAR, entryDefect } from './entry-grammar.ts';
import { OUTCOMES } from './outcomes.ts';
import { isTime } from './primitives/iso-time.ts';

const HASH = '0123456789abcdef'.repeat(4);
const COMMON = { v: 1, at: '2026-04-08T22:15:30.123Z', actor: 'agent "字"' };
const UUID = 'de305d54-75b4-431b-adb2-eb6b9e546014';
const KEY = '0123456789abcdef'.repeat(2);
const VKEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const SIGNATURE = `${'A'.repeat(86)}==`;
const PLACES = [
  { session_id: 'A-0009', session_seq: 1 },
  { session_id: 'A-12345', session_seq: 7 },
];

const HONEST: Readonly<Record<EntryKind, Readonly<Record<string, unknown>>>> = {
  genesis: { ledger_id: UUID, continues: { ledger_id: UUID, leaf: HASH, size: 1, root: HASH } },
  'action.enter': { tool: 'no such tool 🐦', arguments: HASH, process_id: UUID },
  'action.exit': { sequence_no: 1, outcome: 'ok', duration_ms: 0, answer: HASH },
  'action.interrupted': { sequence_no: 9 },
  'task.created': { task_id: 'T-0001', task: HASH, sessions: [] },
  'task.updated': { task_id: 'T-999999999999', task: HASH, sessions: PLACES },
  'session.started': { session_id: 'A-0001', task_id: 'T-0001', scope: 'deep', session: HASH },
  thought: {
    thought_id: 'Θ-0001',
    task_id: 'T-0001',
    hash: HASH,
    extras: HASH,
    chain_position: 1,
    attempt: 1,
    session_id: 'A-0001',
    session_seq: 1,
  },
  'session.finalized': { session_id: 'A-0001', root: HASH, leaf_count: 1, heads: [], task_id: 'T-0001' },
  redaction: { actor: 'person:ada', redacts: 1, reason: HASH, remains: HASH },
  observed: {
    actor: 'hook:claude-code',
    client: 'claude-code',
    session: 's-1',
    call_id: 'toolu_1',
    key: KEY,
    action: 'shell',
    client_version: '2.1.325',
    agent: 'a-1',
    model: 'm',
    event: 'PostToolUse',
    phase: 'after',
    tool: 'Bash',
    outcome: 'ok',
    exit_code: 0,
    duration_ms: 1,
    task_id: 'T-0001',
    session_task: 'T-0001',
    agent_task: 'none',
    claim: 7,
    input: HASH,
    output: HASH,
    content: HASH,
  },
  'observed.commit': {
    actor: 'hook:git',
    key: KEY,
    sha: 'ab'.repeat(20),
    tree: 'cd'.repeat(20),
    parents: [],
    rewrites: 'ef'.repeat(20),
    task_id: 'T-0001',
    content: HASH,
  },
  'observed.coverage': {
    actor: 'hook:claude-code',
    client: 'claude-code',
    session: 's-1',
    key: KEY,
    agent: 'a-1',
    seen: 2,
    recorded: 1,
    content: HASH,
  },
  'observed.usage': {
    actor: 'hook:codex',
    client: 'codex',
    session: 's-1',
    key: KEY,
    agent: 'a-1',
    model: 'm',
    responses: 1,
    input_tokens: 1,
    output_tokens: 2,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    task_id: 'T-0001',
    content: HASH,
  },
  'project.options': { actor: 'person:ada', options: HASH },
  'key.added': { key: VKEY, signature: SIGNATURE, replaces: VKEY, replaces_signature: SIGNATURE },
};

/** Values that no field of any kind may have. */
const NEVER: readonly unknown[] = [null, true, -1, 0.5, 2 ** 53, {}, [null], [[]]];

const OPTIONAL: Readonly<Partial<Record<EntryKind, readonly string[]>>> = {
  genesis: ['continues'],
  'session.finalized': ['task_id'],
  observed:
    'client_version agent model tool action call_id outcome exit_code duration_ms task_id session_task agent_task claim input output'.split(
      ' ',
    ),
  'observed.commit': ['rewrites', 'task_id'],
  'observed.coverage': ['agent'],
  'observed.usage': ['agent', 'task_id'],
  'key.added': ['replaces', 'replaces_signature'],
  redaction: ['remains'],
};

const WRONG_IDS = ['T-0000', 'T-042', 'T-00042', 'T-0042 ', 't-0042', 'T-1e3', 'T--001', 'T-1234567890123', 42];
const WRONG_DIGESTS = [HASH.toUpperCase(), HASH.slice(1), `${HASH}0`, `${HASH}\n`, 'g'.repeat(64), ''];

describe('the grammar of entries', () => {
  for (const kind of ENTRY_KINDS) {
    const honest = { ...COMMON, kind, ...HONEST[kind] };
    const defectOf = (changes: object) => entryDefect({ ...honest, ...changes } as unknown as Entry);

    it(`takes an honest ${kind}`, () => {
      expect(entryDefect(honest as unknown as Entry)).toBeUndefined();
    });

    it(`refuses a ${kind} with a field more or a field less`, () => {
      expect(defectOf({ note: '' })).toMatch(/unknown field "note"/);
      expect(entryDefect(JSON.parse(`{"__proto__":1,${JSON.stringify(honest).slice(1)}`) as Entry)).toMatch(/unknown/);
      for (const field of Object.keys(ENTRY_GRAMMAR[kind])) {
        const { [field]: _gone, ...rest } = honest as Record<string, unknown>;
        const isOptional = OPTIONAL[kind]?.includes(field) === true;
        expect(entryDefect({ kind, ...rest } as unknown as Entry) === undefined, field).toBe(
          isOptional || field === 'kind',
        );
      }
    });

    for (const field of new Set([...Object.keys(HONEST[kind]), ...Object.keys(COMMON)]))
      it(`refuses a ${kind} with an invalid ${field}`, () => {
        for (const value of NEVER) expect(defectOf({ [field]: value }), String(value)).toContain(field);
        if (field === 'task_id')
          for (const id of WRONG_IDS) expect(defectOf({ task_id: id }), String(id)).toBeDefined();
        if (HONEST[kind][field] === HASH)
          for (const hash of WRONG_DIGESTS) expect(defectOf({ [field]: hash }), hash).toBeDefined();
      });
  }

  for (const kind of ['project.options', 'redaction'] as const)
    it(`refuses a ${kind} that is not of a person`, () => {
      const setBy = (actor: unknown) => entryDefect({ ...COMMON, kind, ...HONEST[kind], actor } as unknown as Entry);
      expect(setBy('person:a')).toBeUndefined();
      for (const actor of ['claude-code', 'person:', 'Person:ada', ' person:ada', 'person-ada'])
        expect(setBy(actor), actor).toMatch(/actor/);
    });

  it('refuses a kind that there is not', () => {
    expect(entryDefect({ ...COMMON, kind: 'key.removed' } as unknown as Entry)).toMatch(/unknown kind/);
    expect(entryDefect({ ...COMMON, kind: 'toString' } as unknown as Entry)).toMatch(/unknown kind/);
  });

  it('refuses lists in another order or with one member twice', () => {
    const updated = (sessions: unknown) =>
      entryDefect({ ...COMMON, kind: 'task.updated', ...HONEST['task.updated'], sessions } as unknown as Entry);
    expect(updated(PLACES.toReversed())).toMatch(/sessions/);
    expect(updated([PLACES[0], PLACES[0]])).toMatch(/sessions/);
    expect(updated([{ ...PLACES[0], note: 1 }])).toMatch(/sessions/);
  });

  it('knows every outcome that a call can have, and no other', () => {
    expect([...OUTCOMES].toSorted()).toEqual(['ok', ...RULE_CODES, ...STAGE_CODES].toSorted());
  });
});

describe('times', () => {
  it('accepts the times that Date writes', () => {
    const texts = ['0000-01-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z', '2000-02-29T00:00:00.000Z'];
    for (let day = 0; day < 1500; day += 1) texts.push(new Date(day * 86_400_000 * 7.3).toISOString());
    for (const text of texts) expect(isTime(text), text).toBe(true);
  });

  it('refuses all other times', () => {
    const base = '2026-04-08T22:15:30.123Z';
    const texts = ['1900-02-29T00:00:00.000Z', '2026-04-31T00:00:00.000Z', `${base} `];
    for (let at = 0; at < base.length; at += 1)
      for (const character of '09:/-Z٣ ') texts.push(base.slice(0, at) + character + base.slice(at + 1));
    for (const text of texts) {
      const date = new Date(text);
      expect(isTime(text), text).toBe(!Number.isNaN(date.getTime()) && date.toISOString() === text);
    }
    for (const value of [undefined, null, 0, new Date(), ['2026-04-08T22:15:30.123Z'], '+010000-01-01T00:00:00.000Z'])
      expect(isTime(value)).toBe(false);
  });
});
