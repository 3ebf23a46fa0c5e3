import { describe, expect } from 'vitest';
import * as z from 'zod';
import { createPipes, line, RecordingSink, settle } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { createServer, registerColibriTool, start, stop } from '../server.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a-client', version: '1' } },
};

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a-client', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Sent {
  readonly id?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: { readonly isError?: boolean; readonly structuredContent?: unknown };
}

/** Sends one `tools/call` over pipes, after the handshake. */
async function play(params: unknown, { isModern = false } = {}): Promise<{ sink: RecordingSink; answer: Sent }> {
  const { input, transport, sent } = createPipes();
  const sink = new RecordingSink();
  const server = createServer({
    mode: 'FULL',
    transport,
    auditSink: sink,
    logger: () => undefined,
    installGlobalHandlers: false,
  });
  registerColibriTool(server, 'echo', { inputSchema: z.strictObject({}), access: 'none' }, () => ({}));
  await start(server);
  if (!isModern) input.write(line(INITIALIZE));
  input.write(line({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }));
  await settle();
  await transport.idle();
  await stop(server);
  const answer = sent().find(({ id }) => id === 7);
  if (answer === undefined) throw new Error('the call was not answered');
  return { sink, answer };
}

describe('arguments that are not an object', () => {
  const cases: [string, unknown, string][] = [
    ['a list', [1], '{"refused":"arguments must be an object","sent":[1]}'],
    ['null', null, '{"refused":"arguments must be an object","sent":null}'],
    ['a text', 'task', '{"refused":"arguments must be an object","sent":"task"}'],
    ['a number', 5, '{"refused":"arguments must be an object","sent":5}'],
    ['a boolean', false, '{"refused":"arguments must be an object","sent":false}'],
    ['a list without canonical JSON', ['\ud800'], '{"refused":"arguments must be an object"}'],
  ];
  for (const [what, args, recorded] of cases) {
    promiseTest('chain/invalid-pair', `${what} instead of arguments`, async () => {
      const { sink, answer } = await play({ name: 'echo', arguments: args });
      expect(answer.result).toMatchObject({
        isError: true,
        structuredContent: {
          ok: false,
          error: {
            code: 'INVALID_PARAMS',
            message: 'echo: arguments must be an object',
            details: { issues: [{ path: [], message: 'arguments must be an object' }] },
          },
        },
      });
      expect(sink.story).toEqual(['enter echo', 'exit echo INVALID_PARAMS']);
      expect(sink.enters[0]).toMatchObject({ actor: 'a-client', argumentsText: recorded });
      expect(sink.exits[0]?.answerText).toContain('INVALID_PARAMS');
    });
  }

  promiseTest('chain/unknown-tool', 'a list instead of arguments', async () => {
    const { sink, answer } = await play({ name: 'nothing', arguments: [1] });
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('Unknown tool: nothing') });
    expect(sink.story).toEqual(['enter nothing', 'exit nothing UNKNOWN_TOOL']);
  });
});

describe('a request that names no tool', () => {
  const sent = { word: 'hello' };
  const cases: [string, unknown, string][] = [
    ['no parameters', undefined, '{"refused":"name must be a string","sent":{}}'],
    ['no name', { arguments: sent }, '{"refused":"name must be a string","sent":{"word":"hello"}}'],
    ['a number', { name: 5, arguments: sent }, '{"refused":"name must be a string","sent":{"word":"hello"}}'],
    ['null', { name: null }, '{"refused":"name must be a string","sent":{}}'],
    ['a list', { name: ['echo'], arguments: 5 }, '{"refused":"name must be a string","sent":5}'],
  ];
  for (const [what, params, recorded] of cases) {
    promiseTest('chain/unknown-tool', `${what} instead of a name`, async () => {
      const { sink, answer } = await play(params);
      expect(answer.error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('Invalid tools/call request: name must be a string'),
      });
      expect(sink.story).toEqual(['enter ', 'exit  UNKNOWN_TOOL']);
      expect(sink.enters[0]).toMatchObject({ actor: 'a-client', argumentsText: recorded });
      expect(sink.exits[0]?.answerText).toBe('');
    });
  }
});

describe('malformed metadata', () => {
  const NOT_OBJECT = '_meta must be an object';
  const RELATED = 'io.modelcontextprotocol/related-task';
  const NOT_RELATED = `_meta["${RELATED}"] must have a taskId`;
  const NOT_TOKEN = '_meta.progressToken must be a string or an integer';
  const cases: [string, unknown, string][] = [
    ['a number', 5, NOT_OBJECT],
    ['null', null, NOT_OBJECT],
    ['a list', [], NOT_OBJECT],
    ['a progress token that is an object', { progressToken: {} }, NOT_TOKEN],
    ['a progress token that is a fraction', { progressToken: 1.5 }, NOT_TOKEN],
    ['a progress token that is null', { progressToken: null, other: 1 }, NOT_TOKEN],
    ['a related task that is a number', { progressToken: 1, [RELATED]: 5 }, NOT_RELATED],
    ['two that are malformed', { progressToken: {}, [RELATED]: {} }, NOT_RELATED],
  ];
  for (const [what, meta, problem] of cases) {
    promiseTest('chain/malformed', what, async () => {
      const { sink, answer } = await play({ name: 'echo', arguments: {}, _meta: meta });
      expect(answer.error).toMatchObject({
        code: -32602,
        message: expect.stringContaining(`Invalid tools/call request: ${problem}`),
      });
      expect(sink.story).toEqual(['enter echo', 'exit echo INVALID_PARAMS']);
      expect(sink.enters[0]).toMatchObject({
        actor: 'a-client',
        argumentsText: JSON.stringify({ refused: problem, sent: {} }),
      });
      expect(sink.exits[0]?.answerText).toBe('');
    });
  }

  promiseTest('chain/malformed', 'a progress token that is an object, in the 2026 revision', async () => {
    const { sink, answer } = await play(
      { name: 'echo', arguments: {}, _meta: { ...MODERN_META, progressToken: {} } },
      { isModern: true },
    );
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining(NOT_TOKEN) });
    expect(sink.story).toEqual(['enter echo', 'exit echo INVALID_PARAMS']);
    expect(sink.enters[0]?.actor).toBe('a-client');
  });

  promiseTest('chain/malformed', 'a client cannot send the defect itself', async () => {
    const { sink, answer } = await play({ name: 'echo', arguments: {}, _meta: { 'colibri/defect': 'all is well' } });
    expect(answer.result).toMatchObject({ structuredContent: { ok: true } });
    expect(sink.story).toEqual(['enter echo', 'exit echo ok']);
  });
});
