import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { listFiles } from '../../test/support/folders.ts';
import { call, openMemoryServer } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';

describe('a call that succeeds', () => {
  promiseTest('door/own-sink', 'it gets an enter and an exit event', async () => {
    const { client, sink } = await openMemoryServer({ tools: (register) => register('echo') });
    await call(client, 'echo');
    expect(sink.story).toEqual(['enter echo', 'exit echo ok']);
  });

  promiseTest('chain/pair', 'the exit carries the duration', async () => {
    let nowMs = 1000;
    const { client, sink } = await openMemoryServer({
      nowMs: () => nowMs,
      tools: (register) =>
        register('work', () => {
          nowMs += 7.9;
          return {};
        }),
    });
    await call(client, 'work');
    expect(sink.enters).toHaveLength(1);
    expect(sink.exits).toHaveLength(1);
    expect(sink.enters[0]).toMatchObject({ tool: 'work', timestamp: 1000, args: {}, argumentsText: '{}' });
    expect(sink.exits[0]).toMatchObject({ tool: 'work', durationMs: 7 });
    expect(sink.exits[0]?.correlationId).toBe(sink.enters[0]?.correlationId);
    expect(sink.enters[0]?.correlationId).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  promiseTest('chain/pair', 'a clock that runs backwards yields a duration of 0', async () => {
    let nowMs = 1000;
    const { client, sink } = await openMemoryServer({
      nowMs: () => (nowMs -= 5),
      tools: (register) => register('work'),
    });
    await call(client, 'work');
    expect(sink.exits[0]?.durationMs).toBe(0);
  });

  promiseTest('chain/pair', 'both events are frozen', async () => {
    const { client, sink } = await openMemoryServer({ tools: (register) => register('echo') });
    await call(client, 'echo');
    expect(Object.isFrozen(sink.enters[0])).toBe(true);
    expect(Object.isFrozen(sink.exits[0])).toBe(true);
  });

  promiseTest('chain/success-exit', 'the result is the return value of the tool', async () => {
    const { client, sink } = await openMemoryServer({
      tools: (register) => register('echo', () => ({ word: 'hello' })),
    });
    const answer = await call(client, 'echo');
    expect(sink.exits[0]).toMatchObject({ result: { word: 'hello' }, outcome: 'ok', answerText: answer.text });
    expect(sink.exits[0]).not.toHaveProperty('error');
  });

  it('returns the same JSON as structured content and as text', async () => {
    const { client } = await openMemoryServer({ tools: (register) => register('echo', () => ({ word: 'hello' })) });
    const { text, isError, ...envelope } = await call(client, 'echo');
    expect(envelope).toEqual({ ok: true, data: { word: 'hello' } });
    expect(JSON.parse(text)).toEqual(envelope);
    expect(isError).toBe(false);
  });

  it('passes the parsed input to the tool and the raw input to the sink', async () => {
    const inputSchema = z.strictObject({ limit: z.int().default(20) });
    const { client, sink } = await openMemoryServer({
      tools: (register) => register('list', ({ limit }) => ({ limit }), { inputSchema }),
    });
    expect((await call(client, 'list')).data).toEqual({ limit: 20 });
    expect(sink.enters[0]?.argumentsText).toBe('{}');
  });
});

describe('the source of the chain', () => {
  const source = readFileSync('src/middleware/chain.ts', 'utf8');

  it('labels each of the five stages once, in order', () => {
    expect([...source.matchAll(/\/\/ (\d [a-z -]+):/g)].map(([, label]) => label)).toEqual([
      '1 tool-lock',
      '2 validate',
      '3 audit enter',
      '4 dispatch',
      '5 audit exit',
    ]);
  });

  it('has the only call site of each stage', () => {
    const sources = listFiles('src', '.ts').filter((file) => !file.endsWith('.test.ts'));
    const texts = new Map(sources.map((file) => [file, readFileSync(file, 'utf8')]));
    for (const stage of ['toolLock', 'validate', 'auditEnter', 'dispatch', 'auditExit']) {
      const call = new RegExp(`(?<![.\\w]|function )${stage}\\((?:active|chain)[,)]`, 'g');
      const sites = [...texts].flatMap(([file, text]) => [...text.matchAll(call)].map(() => file));
      expect([stage, ...sites]).toEqual([stage, 'src/middleware/chain.ts']);
    }
  });
});

describe('concurrent calls', () => {
  promiseTest('chain/serial', 'two calls of one tool do not overlap', async () => {
    const { client, sink } = await openMemoryServer({ tools: (register) => register('slow', slowly) });
    await Promise.all([call(client, 'slow'), call(client, 'slow')]);
    expect(sink.story).toEqual(['enter slow', 'exit slow ok', 'enter slow', 'exit slow ok']);
  });

  promiseTest('chain/serial', 'calls of different tools do not overlap', async () => {
    const { client, sink } = await openMemoryServer({
      tools: (register) => {
        register('first', slowly);
        register('second');
        register('third', slowly);
      },
    });
    await Promise.all([call(client, 'first'), call(client, 'second'), call(client, 'third'), call(client, 'second')]);
    expect(sink.story.filter((line) => line.startsWith('enter'))).toEqual([
      'enter first',
      'enter second',
      'enter third',
      'enter second',
    ]);
    expect(sink.story.filter((_, index) => index % 2 === 1).every((line) => line.startsWith('exit'))).toBe(true);
  });

  promiseTest('chain/serial', 'a failing call does not block the next', async () => {
    const { client, sink } = await openMemoryServer({
      tools: (register) => {
        register('fails', () => Promise.reject(new Error('no')));
        register('works');
      },
    });
    await Promise.all([call(client, 'fails'), call(client, 'works')]);
    expect(sink.story).toEqual(['enter fails', 'exit fails INTERNAL', 'enter works', 'exit works ok']);
  });
});

async function slowly(): Promise<object> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return {};
}
