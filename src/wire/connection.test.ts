import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  call,
  createPipes,
  line,
  openMemoryServer,
  RecordingSink,
  type Register,
  settle,
} from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { ColibriError } from '../errors.ts';
import { createServer, registerColibriTool, start, stop } from '../server.ts';

const NEWEST = '2026-07-28';
const GENERATIONS: [string, ClientOptions][] = [
  ['the 2025 handshake', {}],
  ['the 2026 revision', { versionNegotiation: { mode: { pin: NEWEST } } }],
  ['a client that tries both', { versionNegotiation: { mode: 'auto' } }],
];

function registerTools(register: Register): void {
  register('echo', ({ word }) => ({ word }), {
    inputSchema: z.strictObject({ word: z.string() }),
    outputSchema: z.object({ word: z.string() }),
  });
  for (const errorPattern of ['A', 'B'] as const) {
    const fail = () => {
      throw new ColibriError('ERR_NOT_FOUND', 'no', { taskId: 'T-0001' });
    };
    register(`fails_${errorPattern.toLowerCase()}`, fail, { errorPattern, outputSchema: z.object({ id: z.string() }) });
  }
}

for (const [what, options] of GENERATIONS) {
  describe(what, () => {
    const open = () =>
      openMemoryServer({ client: options, clientName: 'the-client', instructions: 'Be brief.', tools: registerTools });

    promiseTest('door/generations', `${what}: list, call, refusal, unknown tool`, async () => {
      const { client, sink, server } = await open();
      expect(client.getInstructions()).toBe('Be brief.');
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'fails_a', 'fails_b']);
      expect((await call(client, 'echo', { word: 'hello' })).data).toEqual({ word: 'hello' });
      expect((await call(client, 'echo', {})).error?.code).toBe('INVALID_PARAMS');
      await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
      expect(sink.exits.map(({ outcome }) => outcome)).toEqual(['ok', 'INVALID_PARAMS', 'UNKNOWN_TOOL']);
      expect(server.isConnected()).toBe(true);
    });

    promiseTest(
      'door/definitions',
      `${what}: a client that validates outputs accepts both failure patterns`,
      async () => {
        const { client } = await open();
        await client.listTools();
        expect((await call(client, 'fails_a')).error?.code).toBe('HANDLER_ERROR');
        expect((await call(client, 'fails_b')).data).toMatchObject({ ok: false, error: { code: 'ERR_NOT_FOUND' } });
      },
    );

    promiseTest('door/actor', `${what}: the client's name`, async () => {
      const { client, sink } = await open();
      await call(client, 'echo', { word: 'hello' });
      expect([sink.enters[0]?.actor, sink.exits[0]?.actor]).toEqual(['the-client', 'the-client']);
    });

    promiseTest('door/actor', `${what}: the agent id takes precedence`, async () => {
      const { client, sink } = await openMemoryServer({ client: options, agentId: 'agent-7', tools: registerTools });
      await call(client, 'echo', { word: 'hello' });
      expect(sink.enters[0]?.actor).toBe('agent-7');
    });

    const names: [string, string][] = [
      ['x'.repeat(500), 'x'.repeat(128)],
      ['half\ud800', 'half\ufffd'],
      [`${'x'.repeat(127)}😀`, `${'x'.repeat(127)}\ufffd`],
      ['', 'unknown'],
    ];
    for (const [clientName, actor] of names) {
      promiseTest(
        'door/actor',
        `${what}: ${JSON.stringify(clientName.slice(-9))} becomes fit to be recorded`,
        async () => {
          const { client, sink } = await openMemoryServer({ client: options, clientName, tools: registerTools });
          await call(client, 'echo', { word: 'hello' });
          expect(sink.enters[0]?.actor).toBe(actor);
        },
      );
    }

    it('sends progress notifications to a client that asks for them', async () => {
      const seen: unknown[] = [];
      const { client } = await openMemoryServer({
        client: options,
        tools: (register) =>
          register('work', ((
            _args: unknown,
            { progress }: { progress: (done: number, total: number, message?: string) => void },
          ) => {
            progress(1, 2);
            progress(2, 2, 'done');
            return {};
          }) as () => unknown),
      });
      await client.callTool({ name: 'work', arguments: {} }, { onprogress: (progress) => seen.push(progress) });
      expect(seen).toEqual([
        { progress: 1, total: 2 },
        { progress: 2, total: 2, message: 'done' },
      ]);
      expect((await call(client, 'work')).ok).toBe(true);
    });
  });
}

describe('a connection', () => {
  promiseTest('door/generations', 'the requested revision', async () => {
    const pinned = await openMemoryServer({ client: { versionNegotiation: { mode: { pin: NEWEST } } } });
    expect(pinned.client.getNegotiatedProtocolVersion()).toBe(NEWEST);
    const plain = await openMemoryServer({});
    expect(plain.client.getNegotiatedProtocolVersion()).toMatch(/^2025-/);
  });

  promiseTest(
    'door/generations',
    'a probe for the newest revision, then a 2025 handshake on the same connection',
    async () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      const server = createServer({
        mode: 'FULL',
        transport: far,
        logger: () => undefined,
        installGlobalHandlers: false,
      });
      await start(server);
      const probe = new Promise((resolve) => {
        near.onmessage = resolve;
      });
      await near.start();
      const meta = {
        'io.modelcontextprotocol/protocolVersion': NEWEST,
        'io.modelcontextprotocol/clientInfo': { name: 'prober', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      await near.send({ jsonrpc: '2.0', id: 'probe', method: 'server/discover', params: { _meta: meta } });
      expect(await probe).toMatchObject({ id: 'probe', result: {} });
      const client = new Client({ name: 'test-client', version: '1' });
      await client.connect(near);
      expect(server.isConnected()).toBe(true);
      await client.close();
      await settle();
      expect(server.isConnected()).toBe(false);
      await stop(server);
    },
  );

  promiseTest(
    'door/generations',
    'version 1 of the SDK, which validates errors against output schemas too',
    async () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      const sink = new RecordingSink();
      const server = createServer({
        mode: 'FULL',
        transport: far,
        auditSink: sink,
        logger: () => undefined,
        installGlobalHandlers: false,
      });
      registerTools((name, handler = () => ({}), config = {}) =>
        registerColibriTool(server, name, { inputSchema: z.strictObject({}), access: 'none', ...config }, handler),
      );
      await start(server);
      const client = new OlderClient({ name: 'older-client', version: '1' });
      await client.connect(near);
      expect((await client.listTools()).tools).toHaveLength(3);
      for (const name of ['echo', 'fails_a', 'fails_b']) {
        expect((await client.callTool({ name, arguments: {} })).isError).toBe(true);
      }
      expect((await client.callTool({ name: 'echo', arguments: { word: 'hello' } })).structuredContent).toEqual({
        ok: true,
        data: { word: 'hello' },
      });
      expect(sink.enters[0]?.actor).toBe('older-client');
      await client.close();
      await stop(server);
    },
  );

  promiseTest('door/actor', 'each request of the 2026 revision is recorded under the name it brings', async () => {
    const { input, transport } = createPipes();
    const sink = new RecordingSink();
    const server = createServer({
      mode: 'FULL',
      transport,
      auditSink: sink,
      logger: () => undefined,
      installGlobalHandlers: false,
    });
    await start(server);
    const names = ['one', 'one', 'other', 'one'];
    for (const [id, name] of names.entries()) {
      const meta = {
        'io.modelcontextprotocol/protocolVersion': NEWEST,
        'io.modelcontextprotocol/clientInfo': { name, version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      input.write(line({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'none', _meta: meta } }));
    }
    await settle();
    await transport.idle();
    await stop(server);
    expect(sink.enters.map(({ actor }) => actor)).toEqual(names);
  });

  promiseTest('door/actor', 'unknown without an agent id and a client name', async () => {
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
    input.write(line({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } }));
    await settle();
    await transport.idle();
    expect(sent()).toMatchObject([{ id: 1, result: { structuredContent: { ok: true } } }]);
    expect(sink.enters[0]?.actor).toBe('unknown');
    await stop(server);
  });

  promiseTest('door/list', 'with a cache hint', async () => {
    const { client } = await openMemoryServer({
      client: { versionNegotiation: { mode: { pin: NEWEST } } },
      tools: registerTools,
    });
    expect(await client.listTools()).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'public' });
  });
});
