import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { InMemoryTransport, type Transport } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tempFolder } from '../test/support/folders.ts';
import { call, openMemoryServer } from '../test/support/memory-server.ts';
import { promiseTest } from '../test/support/promise-test.ts';
import { type CreateServerOptions, createServer, start, stop } from './server.ts';

const quiet: CreateServerOptions = { mode: 'FULL', logger: () => undefined, installGlobalHandlers: false };

function stubTransport(start: () => Promise<void> = async () => undefined): Transport & { closed: number } {
  const transport: Transport & { closed: number } = {
    closed: 0,
    start,
    send: async () => undefined,
    close: async () => {
      transport.closed += 1;
      transport.onclose?.();
    },
  };
  return transport;
}

describe('start', () => {
  promiseTest('boot/starts', 'not earlier', async () => {
    let begin: () => void = () => undefined;
    const transport = stubTransport(() => new Promise((resolve) => (begin = resolve)));
    const server = createServer({ ...quiet, transport });
    const started = vi.fn();
    const starting = start(server).then(started);
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).not.toHaveBeenCalled();
    expect(server.isConnected()).toBe(false);
    begin();
    await starting;
    expect(server.isConnected()).toBe(true);
    await stop(server);
  });

  promiseTest('boot/starts', 'a transport that fails to start rejects', async () => {
    const transport = stubTransport(() => Promise.reject(new Error('no such pipe')));
    const server = createServer({ ...quiet, transport });
    await expect(start(server)).rejects.toThrow('no such pipe');
    expect(server.isConnected()).toBe(false);
  });

  promiseTest('boot/timeout', 'the error names COLIBRI_STARTUP_TIMEOUT_MS', async () => {
    const transport = stubTransport(() => new Promise(() => undefined));
    const server = createServer({ ...quiet, transport, startupTimeoutMs: 5 });
    await expect(start(server)).rejects.toThrow(/startup timeout exceeded .5 ms.*COLIBRI_STARTUP_TIMEOUT_MS/);
    expect(server.isConnected()).toBe(false);
  });

  it('starts once when it is called twice', async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const started = vi.spyOn(far, 'start');
    const server = createServer({ ...quiet, transport: far });
    await Promise.all([start(server), start(server)]);
    await start(server);
    expect(started).toHaveBeenCalledTimes(1);
    await near.close();
    await stop(server);
  });

  it('logs starting and ready', async () => {
    const { server, log } = await openMemoryServer({ version: '1.2.3' });
    await server.chain.runtime.passGate(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.map(({ event }) => event)).toEqual(['starting', 'ready']);
    expect(log[0]).toMatchObject({ level: 'info', mode: 'FULL', version: '1.2.3' });
  });
});

describe('handlers for uncaught errors', () => {
  const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;
  const count = () => EVENTS.map((event) => process.listenerCount(event));
  const before = EVENTS.map((event) => process.listeners(event as 'unhandledRejection'));
  const counts: number[][] = [];

  beforeAll(async () => {
    counts.push(count());
    const first = createServer({ ...quiet, installGlobalHandlers: true, transport: stubTransport() });
    await start(first);
    counts.push(count());
    await start(first);
    await start(createServer({ ...quiet, installGlobalHandlers: true, transport: stubTransport() }));
    counts.push(count());
  });

  afterAll(() => {
    for (const [index, event] of EVENTS.entries()) {
      const added = process.listeners(event as 'unhandledRejection').filter((one) => !before[index]?.includes(one));
      for (const listener of added) process.off(event, listener);
    }
  });

  promiseTest('boot/handlers', 'one per event', () => {
    expect(counts[1]).toEqual(counts[0]?.map((number) => number + 1));
  });

  promiseTest('boot/handlers-once', 'neither does a second server', () => {
    expect(counts[2]).toEqual(counts[1]);
  });

  const failures = { uncaughtException: `throw new Error('lost')`, unhandledRejection: `Promise.reject('lost')` };
  for (const [event, code] of Object.entries(failures)) {
    promiseTest('boot/uncaught', event, () => {
      const program = `import { createServer, start } from './dist/server.js';
        await start(createServer({ mode: 'FULL' }));
        setImmediate(() => { ${code} });`;
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
        encoding: 'utf8',
        timeout: 20_000,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      const last = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
      expect(last).toMatchObject({ level: 'error', event });
      expect(JSON.stringify(last)).toContain('lost');
    });
  }
});

describe('stop', () => {
  promiseTest('boot/stops', 'after start', async () => {
    const transport = stubTransport();
    const server = createServer({ ...quiet, transport });
    await start(server);
    await stop(server);
    expect(transport.closed).toBe(1);
    expect(server.isConnected()).toBe(false);
  });

  promiseTest('boot/stops', 'without start', async () => {
    const transport = stubTransport();
    await stop(createServer({ ...quiet, transport }));
    expect(transport.closed).toBe(1);
  });

  promiseTest('boot/drains', 'it waits for the running call', async () => {
    let finish: () => void = () => undefined;
    const { client, server, sink } = await openMemoryServer({
      tools: (register) => register('slow', () => new Promise<object>((resolve) => (finish = () => resolve({})))),
    });
    const answer = call(client, 'slow');
    await vi.waitFor(() => expect(sink.story).toEqual(['enter slow']));
    const stopping = stop(server);
    finish();
    expect((await answer).ok).toBe(true);
    await stopping;
    expect(sink.story).toEqual(['enter slow', 'exit slow ok']);
    expect(server.isConnected()).toBe(false);
  });
});

describe('the program', () => {
  async function connect() {
    const client = new Client({ name: 'test-client', version: '1' });
    const env = { PATH: process.env['PATH'] ?? '', COLIBRI_MODE: 'TEST' };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: ['dist/colibri.cjs'], env, stderr: 'ignore' }),
    );
    onTestFinished(() => client.close());
    return client;
  }

  promiseTest('chain/ping', 'with the time', async () => {
    const { ok, data, isError } = await call(await connect(), 'server_ping');
    expect({ ok, isError }).toEqual({ ok: true, isError: false });
    expect(data).toEqual({
      version: createServer(quiet).getVersion(),
      mode: 'TEST',
      uptime_ms: expect.any(Number),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  promiseTest('chain/uptime', 'an integer that never decreases', async () => {
    const client = await connect();
    const readings: number[] = [];
    for (let index = 0; index < 5; index += 1)
      readings.push(((await call(client, 'server_ping')).data as { uptime_ms: number }).uptime_ms);
    expect(readings.every((uptime) => Number.isInteger(uptime) && uptime >= 0)).toBe(true);
    expect(readings.toSorted((a, b) => a - b)).toEqual(readings);
  });

  promiseTest('boot/run-directly', 'also through a symbolic link', () => {
    const folder = tempFolder();
    symlinkSync(resolve('dist'), join(folder, 'linked'));
    for (const path of ['dist/server.js', join(folder, 'linked', 'server.js')])
      expect(pingOnce(path)).toMatchObject({ id: 1, result: { structuredContent: { ok: true } } });
  });

  promiseTest('boot/run-directly', 'not inside a bundle of an embedder', () => {
    const folder = tempFolder();
    cpSync('dist', join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "name": "embedder", "version": "1.0.0", "type": "module" }');
    expect(pingOnce(join(folder, 'dist', 'server.js'))).toBeUndefined();
  });

  /** Returns the answer, undefined if the module ends without one. */
  function pingOnce(path: string): unknown {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'server_ping', arguments: {} } };
    const { stdout } = spawnSync(process.execPath, [path], {
      env: { PATH: process.env['PATH'], COLIBRI_MODE: 'TEST' },
      input: `${JSON.stringify(request)}\n`,
      encoding: 'utf8',
    });
    return stdout === '' ? undefined : (JSON.parse(stdout) as unknown);
  }

  it('answers every request before stdin ended, then exits with 0', () => {
    const requests = [
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'server_health', arguments: {} } },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'server_ping', arguments: {} } },
    ];
    const { status, stdout } = spawnSync(process.execPath, ['dist/colibri.cjs'], {
      env: { PATH: process.env['PATH'], COLIBRI_MODE: 'TEST' },
      input: `${requests.map((request) => JSON.stringify(request)).join('\n')}\n`,
      encoding: 'utf8',
    });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; result: { structuredContent: object } });
    expect(status).toBe(0);
    expect(answers.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([1, 2]);
    for (const { result } of answers) expect(result.structuredContent).toMatchObject({ ok: true });
  });
});
