import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { isCanonicalText } from '../../src/integrity/index.ts';
import { toEvent } from '../../src/recorder/clients/recognize.ts';
import { CLIENTS } from '../../src/recorder/event.ts';
import { countDropped, listSpool, readSpoolFile, removeSpoolFile, writeToSpool } from '../../src/recorder/spool.ts';
import { encodeSpooled, parseSpooled, type RecordOptions, toSpooled } from '../../src/recorder/spooled-event.ts';
import { promiseTest } from '../support/promise-test.ts';

const OPTIONS: RecordOptions = { at: new Date('2026-11-16T12:00:00.000Z'), salt: '0'.repeat(32), level: 'full' };

const base = { session_id: 's', hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 'c' };

const nest = (depth: number, open: string, close: string) =>
  JSON.parse(`${open.repeat(depth)}[]${close.repeat(depth)}`) as unknown;

const SCALARS = [null, true, 0, -1, 1e308, 2 ** 60, '', 'x', '\ud800', '\udfff\ud800', '\0\x1b[2J\u2028\u202e'];

const VALUES: readonly unknown[] = [
  ...SCALARS,
  [],
  {},
  [[]],
  'x'.repeat(200_000),
  nest(70, '[', ']'),
  nest(50_000, '[', ']'),
  nest(20_000, '{"a":', '}'),
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1,"length":-1}'),
  { command: { toString: 'x' }, stdout: [], exit: '3', content: [{ text: 5 }, null, { text: { text: 'deep' } }] },
];

/** Every member that a mapping reads. */
const MEMBERS = `session_id sessionId hook_event_name hookEventName tool_name tool_input tool_response tool_use_id error
  timestamp duration_ms model agent_id transcript_path cwd turn_id mcp_context toolName toolArgs toolResult stopReason
  transcriptPath agent_action_name trajectory_id tool_info conversation_id cursor_version workspace_roots tool_output
  command output hook input`.split(/\s+/);

describe('hostile events', () => {
  promiseTest('recorder/hostile', 'any value in any member, for every client', () => {
    for (const value of VALUES) {
      for (const payload of [value, ...MEMBERS.map((name) => ({ ...base, [name]: value }))]) {
        for (const client of [undefined, ...CLIENTS]) {
          const text = encodeSpooled(toSpooled(toEvent(payload, { client }), OPTIONS));
          expect(text.length).toBeLessThan(40_000);
          expect(text.isWellFormed() && isCanonicalText(text)).toBe(true);
          expect(parseSpooled(text)).toBeDefined();
        }
      }
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  promiseTest('recorder/hostile', 'the last of two equal keys counts, and inherited members do not', () => {
    const twice = '{"session_id":"a","session_id":"b","hook_event_name":"Stop","hook_event_name":"SessionEnd"}';
    expect(toEvent(JSON.parse(twice))).toMatchObject({ session: 'b', phase: 'session_end' });
    for (const event of ['constructor', '__proto__', 'toString'])
      for (const client of CLIENTS) {
        const payload = {
          ...base,
          hook_event_name: event,
          agent_action_name: event,
          hook: event,
          conversation_id: 'c',
        };
        expect(toEvent(payload, { client, event })).toMatchObject({ client, event, phase: 'other', outcome: null });
      }
    expect(toEvent(JSON.parse('{"__proto__":{"session_id":"s","hook_event_name":"Stop"}}')).client).toBe('unknown');
  });

  promiseTest('recorder/hostile', 'identifiers are bounded and have no control characters', () => {
    const event = toSpooled(
      toEvent({ ...base, session_id: `a\n\u0000${'x'.repeat(500)}`, tool_name: '\x1b[2J' }),
      OPTIONS,
    );
    expect(event.session).toMatch(/^a\ufffd\ufffdx{108}~[0-9a-f]{16}$/);
    expect(event.tool).toBe('\ufffd[2J');
  });

  promiseTest('recorder/hostile', 'content is bounded by the level, in whole characters', () => {
    const payload = {
      ...base,
      tool_input: { command: '😀'.repeat(9999) },
      tool_response: { stdout: 'é'.repeat(99_999) },
    };
    const lengthAt = (level: RecordOptions['level']) => {
      const { content } = toSpooled(toEvent(payload), { ...OPTIONS, level });
      if (content === null) return 0;
      const { command, output, cut } = JSON.parse(content) as { command: string; output: string; cut: boolean };
      expect(cut && command.startsWith('😀') && output.startsWith('é')).toBe(true);
      return command.length + output.length;
    };
    expect(lengthAt('digests')).toBe(0);
    expect(lengthAt('excerpts')).toBe(4096);
    expect(lengthAt('full')).toBe(16_384);
  });

  promiseTest('recorder/hostile', 'digests depend on the salt and on every character of input and output', () => {
    const digests = (changes: object, salt = OPTIONS.salt) => {
      const { input, output } = toSpooled(toEvent({ ...base, ...changes }), { ...OPTIONS, salt });
      return `${input} ${output}`;
    };
    const variants = [
      digests({}),
      digests({ tool_input: { a: 1 } }),
      digests({ tool_input: { a: 2 } }),
      digests({ tool_input: { a: 1 } }, '1'.repeat(32)),
      digests({ tool_input: { a: 1 }, tool_response: 'x' }),
      digests({ tool_input: '\ud800' }),
      digests({ tool_input: '\udfff' }),
      digests({ tool_input: null }),
    ];
    expect(new Set(variants).size).toBe(variants.length);
    expect(digests({ tool_input: { b: 1, a: 2 } })).toBe(digests({ tool_input: { a: 2, b: 1 } }));
  });

  promiseTest('recorder/hostile', 'a spool file that no hook wrote is not an event', () => {
    const event = toSpooled(toEvent(base), OPTIONS);
    const text = encodeSpooled(event);
    const wrong: string[] = ['', '{}', 'null', '[]', `${text} `, text.slice(0, -1), text.replace('{', '{"a":1,')];
    for (const name of Object.keys(event)) {
      const { [name as 'v']: _removed, ...rest } = event;
      wrong.push(
        JSON.stringify(rest),
        encodeSpooled({ ...event, [name]: 1.5 }),
        encodeSpooled({ ...event, [name]: {} }),
      );
    }
    for (const forged of wrong) expect(parseSpooled(forged), forged).toBeUndefined();
    expect(parseSpooled(text)).toEqual(event);
  });
});

describe('the spool', () => {
  const open = () => {
    const folder = mkdtempSync(join(tmpdir(), 'colibri-spool-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return join(folder, 'spool');
  };
  const write = (folder: string, text: string, ms = 0) =>
    writeToSpool(folder, text, { at: new Date(OPTIONS.at.getTime() + ms), isDurable: false });

  promiseTest('recorder/spool', 'lists files in the order of their events and reads each once', () => {
    const folder = open();
    expect(listSpool(folder)).toEqual([]);
    for (const ms of [5, 1, 3]) write(folder, `event ${ms}`, ms);
    const names = listSpool(folder);
    expect(names.map((name) => readSpoolFile(folder, name))).toEqual(['event 1', 'event 3', 'event 5']);
    for (const name of names) removeSpoolFile(folder, name);
    expect([listSpool(folder), readSpoolFile(folder, names[0] ?? '')]).toEqual([[], undefined]);
  });

  promiseTest('recorder/spool', 'events that one process writes in one millisecond keep their order', () => {
    const folder = open();
    const texts = Array.from({ length: 20 }, (_, index) => `event ${index}`);
    for (const text of texts) write(folder, text);
    expect(listSpool(folder).map((name) => readSpoolFile(folder, name))).toEqual(texts);
  });

  promiseTest('recorder/refusals', 'files that a hook did not make are ignored', () => {
    const folder = open();
    write(folder, 'own');
    const [own = ''] = listSpool(folder);
    const name = (digit: number) => own.replace(/[0-9a-f]{16}/, `${digit}`.repeat(16));
    symlinkSync(join(folder, own), join(folder, name(1)));
    writeFileSync(join(folder, name(2)), 'open to others', { mode: 0o644 });
    mkdirSync(join(folder, name(3)), { mode: 0o700 });
    for (const other of ['notes.txt', `${own}.tmp`, 'x.json']) writeFileSync(join(folder, other), '', { mode: 0o600 });
    expect(listSpool(folder)).toEqual([own]);
    expect([1, 2, 3].map((digit) => readSpoolFile(folder, name(digit)))).toEqual([undefined, undefined, undefined]);
  });

  promiseTest('recorder/spool', 'what does not fit is counted, and the oldest stay', () => {
    const folder = open();
    write(folder, 'first');
    expect(() => write(folder, 'x'.repeat(300_000))).toThrow('full');
    for (let index = 1; index < 10_000; index += 1) writeFileSync(join(folder, `${index}`), '');
    expect(() => write(folder, 'too many')).toThrow('start a Colibri server');
    expect(() => write(folder, 'too many')).toThrow('full');
    expect(countDropped(folder)).toBe(3);
    expect(listSpool(folder).map((name) => readSpoolFile(folder, name))).toEqual(['first']);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
