import { describe, expect, it } from 'vitest';
import { canonicalize } from './canonical-json.ts';
import { argumentsDefect, extrasDefect, sessionDefect, thoughtDefect } from './content-grammar.ts';

const CUT = { cut: true, length: 9000, sha256: 'ab'.repeat(32), start: '"'.repeat(2048) };

const HONEST_ARGUMENTS = [
  {},
  { title: 'x'.repeat(4084) },
  { refused: 'title: contains half of a surrogate pair' },
  { cut: true, length: -1 },
  CUT,
  { ...CUT, start: 'x'.repeat(2048) },
];

describe('the grammar of contents', () => {
  it('takes what clients send, cut where it is long', () => {
    for (const value of HONEST_ARGUMENTS) expect(argumentsDefect(canonicalize(value))).toBeUndefined();
  });

  it('refuses arguments that no server records', () => {
    for (const text of ['', '[]', '"x"', 'null', '{ }', '{"b":1,"a":2}', '{"a":1,"a":1}', '{"a":1.0}', '{"a":-0}'])
      expect(argumentsDefect(text), text).toBeDefined();
    for (const value of [
      { title: 'x'.repeat(4086) },
      { ...CUT, note: 1 },
      { ...CUT, length: 4096 },
      { ...CUT, cut: 1 },
      { ...CUT, sha256: 'AB'.repeat(32) },
      { ...CUT, start: '"'.repeat(2049) },
    ])
      expect(argumentsDefect(canonicalize(value)), JSON.stringify(value).slice(0, 40)).toBeDefined();
  });

  it('takes extras with any of their fields', () => {
    const metadata = { x: 'y'.repeat(16_000), ['k'.repeat(256)]: null };
    const all = { blockers: [], branch: 'main', commit_sha: 'ABCDEF0', metadata, tests_run: ['a', 'a'] };
    for (const value of [{}, all, { metadata: {} }]) expect(extrasDefect(canonicalize(value))).toBeUndefined();
  });

  it('refuses extras with anything else', () => {
    for (const text of ['', ' {}', '[]', 'null', '{"branch":"a","blockers":[]}'])
      expect(extrasDefect(text)).toBeDefined();
    for (const value of [
      { mood: 1 },
      { branch: null },
      { branch: '' },
      { branch: 'x'.repeat(257) },
      { commit_sha: 'abcdef' },
      { commit_sha: 'g'.repeat(7) },
      { tests_run: [''] },
      { tests_run: Array(201).fill('a') },
      { blockers: ['x'.repeat(1001)] },
      { metadata: [] },
      { metadata: { x: 'y'.repeat(16_384) } },
      { metadata: { ['k'.repeat(257)]: 1 } },
    ])
      expect(extrasDefect(canonicalize(value)), JSON.stringify(value).slice(0, 40)).toBeDefined();
  });

  it('knows what people write about sessions and thoughts', () => {
    expect(sessionDefect({ auditor_id: 'a', reason: null })).toBeUndefined();
    expect(sessionDefect({ auditor_id: 'a', reason: '' })).toBeUndefined();
    for (const [auditor_id, reason] of [
      ['', null],
      ['a\n', null],
      ['a', 7],
      ['a', 'x'.repeat(1001)],
      [null, null],
    ])
      expect(sessionDefect({ auditor_id, reason })).toBeDefined();
    expect(sessionDefect({ auditor_id: '🐦'.repeat(128), reason: '🐦'.repeat(1000) })).toBeUndefined();
    for (const content of ['a\nb', '🐦'.repeat(5000)]) expect(thoughtDefect({ type: 'risk', content })).toBeUndefined();
    for (const [type, content] of [
      ['risk', ''],
      ['risk', ' \n'],
      ['risk', '🐦'.repeat(5001)],
      ['risk', 'a\u0007'],
      ['risk', 'x'.repeat(5001)],
      ['Risk', 'a'],
      [null, 'a'],
    ])
      expect(thoughtDefect({ type, content })).toBeDefined();
  });
});
