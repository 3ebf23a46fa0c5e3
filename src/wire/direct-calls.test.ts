import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createPipes, line, openPipes, RecordingSink, settle } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { ColibriError } from '../errors.ts';
import { createServer, registerColibriTool, start, stop } from '../server.ts';
import { DirectCalls } from './direct-calls.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a-client', version: '1' } },
};
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'another', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const FIXED = { at: '2026-01-01T00:00:00.000Z', timestamp: 0, durationMs: 0, correlationId: '' };

interface Played {
  readonly isInitialized: boolean;
  /** All messages in one chunk. */
  readonly atOnce?: boolean;
}

/** What a client gets for these messages, what was recorded, and which of them were answered directly. */
async function play(messages: readonly object[], { isInitialized, atOnce = false }: Played) {
  const take = vi.spyOn(DirectCalls.prototype, 'take');
  const { input, transport, sent } = createPipes();
  const sink = new RecordingSink();
  const logger = () => undefined;
  const server = createServer({ mode: 'FULL', transport, auditSink: sink, logger, installGlobalHandlers: false });
  const inputSchema = z.strictObject({ word: z.string().optional() });
  registerColibriTool(server, 'echo', { inputSchema, access: 'none' }, ({ word }, { progress }) => {
    progress(1, 2, 'half');
    return { word };
  });
  registerColibriTool(server, 'early', { inputSchema, access: 'none', early: true }, () => ({}));
  for (const errorPattern of ['A', 'B'] as const)
    registerColibriTool(server, `fails_${errorPattern.toLowerCase()}`, { inputSchema, errorPattern }, () => {
      throw new ColibriError('ERR_NOT_FOUND', 'no', { taskId: 'T-0001' });
    });
  registerColibriTool(server, 'bug', { inputSchema, access: 'none' }, () => ({ word: 1n }));
  await start(server);
  input.write(line(INITIALIZE));
  if (isInitialized) input.write(line(INITIALIZED));
  await settle();
  for (const chunk of atOnce ? [messages] : messages.map((message) => [message])) {
    input.write(chunk.map(line).join(''));
    await settle();
  }
  await transport.idle();
  await stop(server);
  const direct = take.mock.results.map(({ value }) => value as boolean).slice(-messages.length);
  take.mockRestore();
  const recorded = [...sink.enters, ...sink.exits].map((event) => ({ ...event, error: undefined, ...FIXED }));
  return {
    sent: withoutCorrelation(JSON.stringify(sent())),
    recorded: withoutCorrelation(JSON.stringify(recorded)),
    direct,
  };
}

/** An INTERNAL error names the random id under which the log has the details. */
function withoutCorrelation(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID');
}

const call = (params: unknown, id: unknown = 7) => ({ jsonrpc: '2.0', id, method: 'tools/call', params });
const CALLS: [string, object, boolean][] = [
  ['an answer', call({ name: 'echo', arguments: { word: 'hello' } }), true],
  ['no arguments', call({ name: 'echo' }), true],
  ['an id that is a text', call({ name: 'echo' }, 'seven'), true],
  ['the id 0', call({ name: 'echo' }, 0), true],
  ['a negative id', call({ name: 'echo' }, -3), true],
  ['unknown parameters', call({ name: 'echo', inputResponses: {}, requestState: 'x', other: 1 }), true],
  ['a progress token', call({ name: 'echo', _meta: { progressToken: 'p' } }), true],
  ['the progress token 0', call({ name: 'echo', _meta: { progressToken: 0 } }), true],
  ['metadata of the client', call({ name: 'echo', _meta: { 'vendor/key': [1], __proto__: 1 } }), true],
  ['a failure of pattern A', call({ name: 'fails_a' }), true],
  ['a failure of pattern B', call({ name: 'fails_b' }), true],
  ['a bug', call({ name: 'bug' }), true],
  ['an invalid input', call({ name: 'echo', arguments: { word: 1, other: 2 } }), true],
  ['an unknown tool', call({ name: 'nothing\u001b[31m' }), true],
  ['arguments that are a list', call({ name: 'echo', arguments: [] }), true],
  ['no parameters', { jsonrpc: '2.0', id: 7, method: 'tools/call' }, true],
  ['a name that is a number', call({ name: 5 }), true],
  ['metadata that is a number', call({ name: 'echo', _meta: 5 }), true],
  ['a malformed progress token', call({ name: 'echo', _meta: { progressToken: {} } }), true],
  ['the envelope of the 2026 revision', call({ name: 'echo', _meta: MODERN_META }), false],
  ['a related task', call({ name: 'echo', _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } }), false],
  ['another method', { jsonrpc: '2.0', id: 7, method: 'tools/nothing', params: { name: 'echo' } }, false],
  ['a ping', { jsonrpc: '2.0', id: 7, method: 'ping' }, false],
];

describe('calls that are answered without the SDK', () => {
  for (const [what, message, isDirect] of CALLS) {
    promiseTest('door/direct', `${what}: the same answer and the same record as by the SDK`, async () => {
      const bySdk = await play([message], { isInitialized: false });
      const direct = await play([message], { isInitialized: true });
      expect([bySdk.direct, direct.direct]).toEqual([[false], [isDirect]]);
      expect(direct.sent).toBe(bySdk.sent);
      expect(direct.recorded).toBe(bySdk.recorded);
    });
  }

  promiseTest('door/direct', 'many calls, some of them through the SDK', async () => {
    const messages = CALLS.map(([, message], index) => ('id' in message ? { ...message, id: index } : message));
    const bySdk = await play(messages, { isInitialized: false });
    const direct = await play(messages, { isInitialized: true });
    expect(direct.direct).toEqual(CALLS.map(([, , isDirect]) => isDirect));
    expect(direct.sent).toBe(bySdk.sent);
    expect(direct.recorded).toBe(bySdk.recorded);
  });

  promiseTest('door/direct', 'a client with another name after a second handshake', async () => {
    const renamed = { ...INITIALIZE, id: 8, params: { ...INITIALIZE.params, clientInfo: { name: 'b', version: '1' } } };
    const messages = [call({ name: 'echo' }, 1), renamed, call({ name: 'echo' }, 2), call({ name: 'echo' }, 3)];
    const { direct, sent, recorded } = await play(messages, { isInitialized: true, atOnce: true });
    expect(direct).toEqual([true, false, false, false]);
    expect(recorded).toBe((await play(messages, { isInitialized: false, atOnce: true })).recorded);
    expect(sent).toContain('"id":3');
  });

  promiseTest('door/direct', 'calls that arrive in one chunk, in order of arrival', async () => {
    const related = { 'io.modelcontextprotocol/related-task': { taskId: 't' } };
    const [echo, early] = [{ name: 'echo' }, { name: 'early' }];
    const params = [echo, early, echo, { ...echo, _meta: related }, echo, early];
    const messages = params.map((each, index) => call(each, index));
    const bySdk = await play(messages, { isInitialized: false, atOnce: true });
    const direct = await play(messages, { isInitialized: true, atOnce: true });
    expect(direct.direct).toEqual([true, true, true, false, false, false]);
    expect(direct.recorded).toBe(bySdk.recorded);
    expect(direct.sent).toBe(bySdk.sent);
    const answers = JSON.parse(direct.sent) as { readonly id: unknown }[];
    expect(answers.map(({ id }) => id)).toEqual(['hello', 0, 1, 2, 3, 4, 5]);
  });
});

describe('direct calls', () => {
  const open = async () => {
    const pipes = await openPipes();
    const calls = new DirectCalls(pipes.transport);
    const running: { id: unknown; signal: AbortSignal; end: (error?: unknown) => void }[] = [];
    const begin = () =>
      calls.open(
        ({ id, signal }) =>
          new Promise((resolve, reject) => {
            running.push({ id, signal, end: (error) => (error === undefined ? resolve({ id }) : reject(error)) });
          }),
      );
    return { ...pipes, calls, running, begin };
  };
  const message = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'tools/call', params: { name: 'echo' } });
  const cancel = (requestId: number) => ({
    jsonrpc: '2.0' as const,
    method: 'notifications/cancelled',
    params: { requestId, reason: 'enough' },
  });

  it('takes nothing before the handshake is complete, nor after it was closed', async () => {
    const { calls, begin } = await open();
    expect(calls.take(message(1))).toBe(false);
    begin();
    await settle();
    expect(calls.take(message(1))).toBe(true);
    calls.close();
    expect(calls.take(message(1))).toBe(false);
  });

  it('aborts the call that is cancelled, sends no answer to it, and tells the SDK too', async () => {
    const { calls, running, begin, sent } = await open();
    begin();
    calls.take(message(1));
    calls.take(message(2));
    expect(calls.take(cancel(1))).toBe(false);
    await settle();
    expect(running.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(running[0]?.signal.reason).toBe('enough');
    for (const { end } of running) end();
    await settle();
    expect(sent()).toEqual([{ result: { id: 2 }, jsonrpc: '2.0', id: 2 }]);
  });

  it('ignores a cancellation that the SDK would drop', async () => {
    const { calls, running, begin, sent } = await open();
    begin();
    calls.take(message(1));
    for (const params of [{ reason: null }, { reason: 5 }, { requestId: null }, { requestId: '1' }, { _meta: 5 }])
      calls.take({ ...cancel(1), params: { requestId: 1, ...params } } as JSONRPCMessage);
    await settle();
    running[0]?.end();
    await settle();
    expect(sent()).toEqual([{ result: { id: 1 }, jsonrpc: '2.0', id: 1 }]);
  });

  it('gives every call a signal of its own', async () => {
    const { calls, running, begin } = await open();
    begin();
    for (const id of [1, 2]) {
      calls.take(message(id));
      running.at(-1)?.end();
      await settle();
    }
    calls.take(message(3));
    calls.take(cancel(3));
    await settle();
    expect(running.map(({ signal }) => signal.aborted)).toEqual([false, false, true]);
  });

  it('leaves to the SDK what is no request, and what arrives behind a message for the SDK', async () => {
    const { calls, begin } = await open();
    begin();
    for (const other of [{ id: 1.5 }, { id: null }, { jsonrpc: '1.0' }, { extra: 1 }, { params: { _meta: 5 } }]) {
      expect(calls.take({ ...message(1), ...other } as JSONRPCMessage)).toBe(false);
      await settle();
    }
    expect(calls.take(message(1))).toBe(true);
    expect(calls.take({ jsonrpc: '2.0', id: 2, method: 'ping' })).toBe(false);
    expect(calls.take(message(3))).toBe(false);
    await settle();
    expect(calls.take(message(3))).toBe(true);
  });

  it('aborts what runs when the connection is closed', async () => {
    const { calls, running, begin } = await open();
    begin();
    calls.take(message(1));
    calls.close();
    expect(running[0]?.signal.aborted).toBe(true);
  });

  it('answers a call that fails without an error', async () => {
    const { calls, running, begin, sent } = await open();
    begin();
    calls.take(message(1));
    running[0]?.end(null);
    await settle();
    expect(sent()).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }]);
  });

  it('survives a transport that cannot send', async () => {
    const { calls, running, begin, transport, errors } = await open();
    begin();
    calls.take(message(1));
    calls.take(message(2));
    await transport.close();
    running[0]?.end();
    await settle();
    transport.send = () => {
      throw new Error('not async');
    };
    running[1]?.end();
    await settle();
    expect(errors).toEqual([]);
  });
});
