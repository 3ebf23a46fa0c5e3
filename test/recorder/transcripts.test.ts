import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { CLIENTS } from '../../src/recorder/event.ts';
import { findFormat } from '../../src/recorder/transcripts/formats.ts';
import { readTranscript } from '../../src/recorder/transcripts/read-transcript.ts';
import type { Transcript, TranscriptFormat } from '../../src/recorder/transcripts/transcript.ts';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { fixture, linesOf } from './recorded-session.ts';

const FIXTURES = [
  ['claude-code', 'claude-code-2.1.325'],
  ['claude-code', 'claude-code-2.1.325-subagent'],
  ['codex', 'codex-0.166.0'],
  ['gemini-cli', 'gemini-cli-0.61.0'],
  ['copilot-cli', 'copilot-cli-1.0.102'],
] as const;

const formatOf = (client: string) => findFormat(client) as TranscriptFormat;
const CLAUDE = formatOf('claude-code');
const NO_LIMIT = { maxBytes: 1e9, maxLineBytes: 1e9 };

/** Reads the text as the transcript of a client. */
function read(text: string | Buffer, format = CLAUDE, limits = NO_LIMIT): Promise<Transcript> {
  const home = tempFolder();
  const path = join(home, 'transcript.jsonl');
  writeFileSync(path, text);
  return readTranscript(format, path, home, limits);
}

const json = (...lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

const assistant = (
  fields: object = {},
  content: readonly unknown[] = [{ type: 'tool_use', id: 'c-1', name: 'Bash' }],
) => ({
  type: 'assistant',
  message: { id: 'm-1', model: 'claude', usage: { input_tokens: 1, output_tokens: 2 }, content, ...fields },
});
const result = (id: unknown, fields: object = {}) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, ...fields }] },
});

const summary = ({ calls, responses, defect }: Transcript) => ({
  calls: calls.map(({ id }) => id),
  tokens: responses.map(({ tokens }) => tokens.input_tokens + tokens.output_tokens),
  defect,
});

describe('a transcript', () => {
  promiseTest('recorder/transcripts', 'of a client without a known format is not read', () => {
    const known = CLIENTS.filter((client) => findFormat(client) !== undefined);
    expect(known).toEqual(['claude-code', 'codex', 'gemini-cli', 'copilot-cli']);
    for (const name of ['unknown', '', 'toString', '__proto__']) expect(findFormat(name)).toBeUndefined();
  });

  promiseTest(
    'recorder/transcripts',
    'tells its calls in order, whether they ended and whether they were refused',
    async () => {
      const { calls } = await read(fixture('claude-code-2.1.325.jsonl'));
      expect(calls.map(({ id, tool, isRefused }) => `${id} ${tool}${isRefused ? ' refused' : ''}`)).toEqual([
        'toolu_m1_0 Bash',
        'toolu_m2_0 mcp__colibri__task_create',
        'toolu_m3_0 mcp__colibri__task_update',
        'toolu_m4_0 Bash',
        'toolu_m4_1 Bash',
        'toolu_m5_0 Write',
        'toolu_m6_0 Edit refused',
        'toolu_m7_0 Agent',
        'toolu_m10_0 Read',
        'toolu_m11_0 WebFetch refused',
        'toolu_m12_0 NoSuchTool refused',
        'toolu_m13_0 mcp__colibri__task_update',
      ]);
      expect(calls.every(({ isFinished }) => isFinished)).toBe(true);
    },
  );

  for (const [client, name] of FIXTURES)
    promiseTest(
      'recorder/transcripts',
      `${name} gives the same, cut at any line or byte, as far as it goes`,
      async () => {
        const text = fixture(`${name}.jsonl`);
        const whole = await read(text, formatOf(client));
        expect(whole.defect).toBeNull();
        expect(await read(text.trimEnd(), formatOf(client))).toEqual(whole);
        const bytes = Buffer.from(text);
        for (let part = 1; part < 20; part += 1) {
          const cut = await read(bytes.subarray(0, Math.floor((bytes.length * part) / 20)), formatOf(client));
          expect(['has an unknown format', null]).toContain(cut.defect);
          expect(whole.calls.slice(0, cut.calls.length).map(({ id }) => id)).toEqual(cut.calls.map(({ id }) => id));
          expect(cut.responses.length).toBeLessThanOrEqual(whole.responses.length);
        }
      },
    );

  for (const [client, name] of FIXTURES)
    promiseTest(
      'recorder/transcripts',
      `${name} with wrong values in it is read as far as it makes sense`,
      async () => {
        const lines = linesOf(fixture(`${name}.jsonl`)).map((line) => JSON.parse(line) as unknown);
        for (const wrong of [null, true, -1, 1e300, '', '\ud800', [], {}, [[null]], { __proto__: null, type: [] }])
          for (const depth of [1, 2, 3, 4, 5]) {
            const { calls, responses, defect } = await read(
              json(...lines.map((line) => replaceAt(line, depth, wrong))),
              formatOf(client),
            );
            expect(defect === null || /unknown format|cannot be read/.test(defect), String(defect)).toBe(true);
            for (const { id, tool } of calls) expect([typeof id, typeof tool]).toEqual(['string', 'string']);
            for (const { tokens } of responses)
              for (const count of Object.values(tokens)) expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
          }
      },
    );

  const BAD: Readonly<Record<string, readonly [text: string | Buffer, expected: object]>> = {
    'is empty': ['', { calls: [], tokens: [], defect: 'has an unknown format' }],
    'has bytes that are not text': [Buffer.from([0, 255, 254, 10, 34]), { calls: [], defect: 'has an unknown format' }],
    'has a broken line between others': [
      `${json(assistant())}{"type":"assistant","tool_use"\n${json(assistant({ id: 'm-2' }, [{ type: 'tool_use', id: 'c-2', name: 'Bash' }]))}`,
      { calls: ['c-1', 'c-2'], tokens: [3, 3], defect: 'has 1 lines that cannot be read' },
    ],
    'has lines that are not objects': [
      `"tool_use"\n["usage"]\n${json(assistant())}`,
      { calls: ['c-1'], defect: 'has 2 lines that cannot be read' },
    ],
    'is nested too deeply': [
      `{"tool_use":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n${json(assistant())}`,
      { calls: ['c-1'] },
    ],
    'repeats a message': [
      json(assistant(), assistant(), assistant({ usage: { input_tokens: 5, output_tokens: 6 } })),
      { calls: ['c-1'], tokens: [11], defect: null },
    ],
    'has a result without its call': [json(result('c-9'), assistant()), { calls: ['c-1'], defect: null }],
    'has calls without an id or a tool': [
      json(
        assistant({}, [
          { type: 'tool_use', id: 7, name: 'Bash' },
          { type: 'tool_use', id: 'c' },
          { type: 'tool_use', name: 'x' },
          null,
        ]),
      ),
      { calls: [], tokens: [3] },
    ],
    'has responses that no model gave': [
      json(assistant({ model: '<synthetic>' }), assistant({ id: 'm-2', model: 3 }), assistant({ id: '' })),
      { calls: ['c-1'], tokens: [] },
    ],
    'has tokens that are not numbers': [
      json(assistant({ usage: { input_tokens: '5', output_tokens: -3, cache_read_input_tokens: null } })),
      { tokens: [0] },
    ],
    'has more tokens than there can be': [
      json(assistant({ usage: { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 1e99 } })),
      { tokens: [1e12] },
    ],
    'has a name of an object as its tool': [
      json(assistant({}, [{ type: 'tool_use', id: '__proto__', name: 'constructor' }]), result('__proto__')),
      { calls: ['__proto__'] },
    ],
  };
  for (const [name, [text, expected]] of Object.entries(BAD))
    promiseTest('recorder/transcripts', `one that ${name}`, async () => {
      expect(summary(await read(text))).toMatchObject(expected);
    });

  promiseTest(
    'recorder/transcripts',
    'one that repeats a call after its result has one call, which has ended',
    async () => {
      const { calls, responses } = await read(json(assistant(), result('c-1'), assistant()));
      expect(calls.map(({ isFinished }) => isFinished)).toEqual([true]);
      expect(responses.map((response) => response.calls)).toEqual([['c-1']]);
    },
  );

  promiseTest('recorder/transcripts', 'one that is too long is read up to the limit, and says so', async () => {
    const text = json(
      assistant(),
      ...Array.from({ length: 50 }, (_, place) => result(`c-${place}`)),
      assistant({ id: 'm-2' }),
    );
    const cut = await read(text, CLAUDE, { ...NO_LIMIT, maxBytes: 400 });
    expect(summary(cut)).toEqual({ calls: ['c-1'], tokens: [3], defect: 'is longer than 400 bytes' });
    const long = json(assistant(), assistant({ id: 'm-2', padding: 'x'.repeat(1_000_000) }), assistant({ id: 'm-3' }));
    const skipped = await read(long, CLAUDE, { ...NO_LIMIT, maxLineBytes: 1000 });
    expect(summary(skipped)).toEqual({ calls: ['c-1'], tokens: [3, 3], defect: 'has 1 lines that are too long' });
  });

  promiseTest('recorder/transcripts', 'one that no client of this user could have written is refused', async () => {
    const [home, elsewhere] = [tempFolder(), tempFolder()];
    const text = json(assistant());
    writeFileSync(join(home, 'own.jsonl'), text);
    writeFileSync(join(elsewhere, 'other.jsonl'), text);
    symlinkSync(join(home, 'own.jsonl'), join(home, 'link.jsonl'));
    symlinkSync(elsewhere, join(home, 'linked-folder'));
    mkdirSync(join(home, 'folder.jsonl'));
    execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', join(home, 'pipe.jsonl')]);
    const reasonOf = async (path: string, below: string | undefined = home) =>
      (await readTranscript(CLAUDE, path, below)).defect;
    expect(await reasonOf(join(home, 'own.jsonl'))).toBeNull();
    expect(await reasonOf(join(home, 'link.jsonl'))).toBe('is a symbolic link');
    expect(await reasonOf(join(home, 'linked-folder', 'other.jsonl'))).toBe('is outside of the home folder');
    expect(await reasonOf(join(home, '..', elsewhere.split('/').at(-1) ?? '', 'other.jsonl'))).toMatch(/outside/);
    expect(await reasonOf(join(elsewhere, 'other.jsonl'))).toBe('is outside of the home folder');
    expect(await reasonOf('/dev/zero')).toBe('is outside of the home folder');
    expect(await reasonOf('/dev/zero', '/')).toBe('is not a regular file');
    expect(await reasonOf(join(home, 'pipe.jsonl'))).toBe('is not a regular file');
    expect(await reasonOf(join(home, 'folder.jsonl'))).toBe('is not a regular file');
    expect(await reasonOf(join(home, 'gone.jsonl'))).toBe('does not exist');
    expect(await reasonOf(join(home, 'own.jsonl', 'x.jsonl'))).toBe('does not exist');
    expect(await reasonOf(`${home}/a\0b`)).toBe('has no absolute path');
    for (const path of ['own.jsonl', '~/own.jsonl', '', 'file:///etc/passwd'])
      expect(await reasonOf(path)).toMatch(/absolute/);
    const homeless = await readTranscript(CLAUDE, join(home, 'own.jsonl'), undefined);
    expect(homeless.defect).toBe('is outside of the home folder');
    // Root may read every file.
    if (process.geteuid?.() !== 0) {
      chmodSync(join(home, 'own.jsonl'), 0);
      expect(await reasonOf(join(home, 'own.jsonl'))).toBe('cannot be read (EACCES)');
    }
  });
});

/** The value with every member at this depth replaced. */
function replaceAt(value: unknown, depth: number, wrong: unknown): unknown {
  if (depth === 0) return wrong;
  if (Array.isArray(value)) return value.map((item) => replaceAt(item, depth - 1, wrong));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceAt(item, depth - 1, wrong)]));
}
