import { spawnSync } from 'node:child_process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { call, openMemoryServer, RecordingSink, type Register, settle } from '../../test/support/memory-server.ts';
import { fixturePath } from '../../test/support/program.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { type Database, DatabaseError } from '../db/database.ts';
import { stop } from '../server.ts';
import type { Booted } from './runtime.ts';

function registerTools(register: Register): void {
  register('early', undefined, { early: true });
  register('health');
  register('reads', undefined, { access: 'read' });
  register('nested', undefined, { access: 'write', errorPattern: 'B' });
}

/** A boot that the test ends. */
function holdOpen() {
  let finish: (booted: Booted) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const booted = new Promise<Booted>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { boot: () => booted, finish, fail };
}

async function openHeld() {
  const held = holdOpen();
  const ledger = new RecordingSink();
  const door = await openMemoryServer({ boot: held.boot, ownSink: false, tools: registerTools });
  return { ...door, ...held, ledger };
}

describe('during the boot', () => {
  promiseTest('boot/gate', 'the handshake and tools/list answer at once', async () => {
    const { client, server, finish, ledger } = await openHeld();
    const waiting = vi.fn();
    const late = call(client, 'reads').then(waiting);
    expect((await call(client, 'early')).data).toEqual({ ran: 'early' });
    expect((await client.listTools()).tools).toHaveLength(4);
    expect(waiting).not.toHaveBeenCalled();
    expect(server.chain.runtime.phase).toBe('starting');
    finish({ audit: ledger });
    await late;
    expect(waiting).toHaveBeenCalledWith(expect.objectContaining({ ok: true }));
    expect(server.chain.runtime.phase).toBe('ready');
  });

  promiseTest('boot/gate', 'a call of an unknown tool waits, because it is recorded too', async () => {
    const { client, finish, ledger } = await openHeld();
    const refused = client.callTool({ name: 'nothing' }).catch(({ code }: { code: number }) => code);
    finish({ audit: ledger });
    expect(await refused).toBe(-32602);
    expect(ledger.story).toEqual(['enter nothing', 'exit nothing UNKNOWN_TOOL']);
  });

  promiseTest('boot/early-recorded', 'with their original times', async () => {
    const { client, finish, ledger } = await openHeld();
    await call(client, 'early');
    await call(client, 'early', { wrong: 1 });
    const late = call(client, 'reads');
    await call(client, 'early');
    expect(ledger.story).toEqual([]);
    finish({ audit: ledger });
    await late;
    expect(ledger.story).toEqual([
      'enter early',
      'exit early ok',
      'enter early',
      'exit early INVALID_PARAMS',
      'enter early',
      'exit early ok',
      'enter reads',
      'exit reads ok',
    ]);
    const times = ledger.enters.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    expect(ledger.exits.map(({ correlationId }) => correlationId)).toEqual(
      ledger.enters.map(({ correlationId }) => correlationId),
    );
  });

  promiseTest('boot/early-recorded', 'after a thousand of them the next one waits', async () => {
    const { client, finish, ledger } = await openHeld();
    for (let index = 0; index < 1000; index += 1) await call(client, 'early');
    const waiting = vi.fn();
    const late = call(client, 'early').then(waiting);
    await client.ping();
    expect(waiting).not.toHaveBeenCalled();
    finish({ audit: ledger });
    await late;
    expect(ledger.enters).toHaveLength(1001);
    expect(ledger.exits).toHaveLength(1001);
  });
});

describe('a failed boot', () => {
  promiseTest('boot/degraded', 'in MINIMAL mode, with the reason', async () => {
    const { client, server, fail, log } = await openHeld();
    const waiting = call(client, 'reads');
    fail(new DatabaseError('corrupt', 'the file is not a database'));
    const { error } = await waiting;
    expect(error?.code).toBe('HANDLER_ERROR');
    expect(error?.message).toMatch(/^ERR_INIT_FAILED: .*the file is not a database.*server_health/);
    expect(error?.details?.['code']).toBe('ERR_INIT_FAILED');
    expect(server.getMode()).toBe('MINIMAL');
    expect(server.chain.runtime.phase).toBe('failed');
    expect(server.chain.runtime.failure?.message).toBe('the file is not a database');
    expect(server.isConnected()).toBe(true);
    expect(log).toContainEqual(expect.objectContaining({ level: 'error', event: 'degraded', code: 'ERR_INIT_FAILED' }));
  });

  promiseTest('boot/degraded', 'errors have the pattern of the tool', async () => {
    const { client, fail } = await openHeld();
    fail(new Error('no'));
    const { ok, data, isError } = await call(client, 'nested');
    expect({ ok, isError }).toEqual({ ok: true, isError: true });
    expect(data).toMatchObject({ ok: false, error: { code: 'ERR_INIT_FAILED' } });
  });

  promiseTest('boot/degraded', 'tools that need no ledger keep working', async () => {
    const { client, fail } = await openHeld();
    fail('just a string');
    expect((await call(client, 'health')).ok).toBe(true);
    expect((await call(client, 'early')).ok).toBe(true);
  });

  promiseTest('boot/degraded', 'calls are logged to stderr, including early ones', async () => {
    const { client, fail, log } = await openHeld();
    await call(client, 'early');
    fail(new Error('no'));
    await call(client, 'health');
    const actions = log.filter(({ event }) => String(event).startsWith('action.'));
    expect(actions.map(({ event, tool }) => [event, tool])).toEqual([
      ['action.enter', 'early'],
      ['action.exit', 'early'],
      ['action.enter', 'health'],
      ['action.exit', 'health'],
    ]);
  });

  promiseTest(
    'boot/degraded',
    'also if the early calls cannot be recorded; what the boot has opened is closed then',
    async () => {
      const { client, server, finish, ledger } = await openHeld();
      await call(client, 'early');
      ledger.enterThrows = new Error('the disk is full');
      const closed: string[] = [];
      const end = (name: string) => async () => void closed.push(name);
      const background = { settle: async () => true, stop: end('background') };
      finish({ audit: ledger, background, database: { close: end('database') } as unknown as Database });
      expect((await call(client, 'reads')).error?.message).toContain('the disk is full');
      expect(closed).toEqual(['background', 'database']);
      expect(server.chain.runtime.database).toBeUndefined();
    },
  );

  promiseTest('door/list', 'a failed boot does not change the list', async () => {
    const { client, fail } = await openHeld();
    fail(new Error('no'));
    await call(client, 'health');
    expect((await client.listTools()).tools).toHaveLength(4);
  });
});

describe('a boot that fails with a transient fault', () => {
  /** Fails with these errors, one per attempt, and then succeeds. */
  function failing(...errors: readonly Error[]) {
    const ledger = new RecordingSink();
    const attempts = vi.fn(async (): Promise<Booted> => {
      const error = errors[attempts.mock.calls.length - 1];
      if (error !== undefined) throw error;
      return { audit: ledger };
    });
    return { ledger, attempts, door: { boot: attempts, ownSink: false, tools: registerTools } };
  }

  promiseTest('boot/recovers', 'calls are then recorded in the ledger', async () => {
    const { door, ledger, attempts } = failing(new DatabaseError('unavailable', 'the database cannot be reached'));
    const { client, server, log } = await openMemoryServer(door);
    const { error } = await call(client, 'reads');
    expect(error?.message).toMatch(/^ERR_INIT_FAILED: .*cannot be reached.*server_health.*keeps retrying/);
    expect(server.getMode()).toBe('MINIMAL');
    await vi.waitFor(() => expect(server.chain.runtime.phase).toBe('ready'), 5000);
    expect((await call(client, 'reads')).ok).toBe(true);
    expect(server.getMode()).toBe('FULL');
    expect(server.chain.runtime.failure).toBeUndefined();
    expect(ledger.story).toEqual(['enter reads', 'exit reads ok']);
    expect(attempts).toHaveBeenCalledTimes(2);
    const said = log.map(({ event }) => String(event)).filter((event) => !event.startsWith('action.'));
    expect(said).toEqual(['starting', 'degraded', 'ready']);
  });

  promiseTest('boot/recovers', 'with exponential backoff, and logs the same failure once', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const away = Array.from({ length: 100 }, () => new DatabaseError('busy', 'another process keeps it locked'));
    const { door, attempts } = failing(...away);
    const { log } = await openMemoryServer(door);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(attempts.mock.calls.length).toBeGreaterThan(3);
    await vi.advanceTimersByTimeAsync(590_000);
    expect(attempts.mock.calls.length).toBeGreaterThan(20);
    expect(attempts.mock.calls.length).toBeLessThan(30);
    expect(log.filter(({ event }) => event === 'degraded')).toHaveLength(1);
  });

  for (const error of [
    new DatabaseError('corrupt', 'it is a database of another program'),
    new DatabaseError('refused', 'it was written by a newer Colibri'),
    new Error('a bug'),
  ])
    promiseTest('boot/recovers', `does not retry a permanent fault: ${error.message}`, async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const { door, attempts } = failing(error);
      const { client } = await openMemoryServer(door);
      await vi.advanceTimersByTimeAsync(600_000);
      expect(attempts).toHaveBeenCalledTimes(1);
      expect((await call(client, 'reads')).error?.message).not.toContain('retrying');
    });

  promiseTest('boot/recovers', 'the retry timer does not keep the process alive', () => {
    const { status, stderr } = spawnSync(process.execPath, [fixturePath('unavailable-ledger')], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(stderr).toContain('"degraded"');
    expect(status).toBe(0);
  });

  promiseTest('boot/recovers', 'stop ends the retries', async () => {
    const { door, attempts } = failing(new DatabaseError('lost', 'the connection was lost'));
    const { client, server } = await openMemoryServer(door);
    await call(client, 'health');
    await stop(server);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(attempts).toHaveBeenCalledTimes(1);
    expect(server.chain.runtime.phase).toBe('stopped');
  });
});

describe('after the boot', () => {
  it('lets no early call overtake a call that arrived before it', async () => {
    const { server, finish, ledger } = await openHeld();
    const { runtime } = server.chain;
    finish({ audit: ledger });
    await runtime.passGate(false);
    const passed: boolean[] = [];
    await Promise.all([false, true].map((isEarly) => runtime.passGate(isEarly).then(() => passed.push(isEarly))));
    expect(passed).toEqual([false, true]);
  });
});

describe('stop', () => {
  promiseTest('boot/drains', 'stop waits for a database that is still being opened', async () => {
    const { server, finish, ledger } = await openHeld();
    const close = vi.fn(async () => undefined);
    const stopped = vi.fn();
    const stopping = stop(server).then(stopped);
    await settle();
    expect(stopped).not.toHaveBeenCalled();
    finish({ audit: ledger, database: { close } as unknown as Database });
    await stopping;
    expect(close).toHaveBeenCalledTimes(1);
    expect(server.chain.runtime.phase).toBe('stopped');
  });

  it('leaves no call half recorded', async () => {
    const { client, server, finish, ledger } = await openHeld();
    finish({ audit: ledger });
    const calls = ['health', 'early', 'health'].map((name) => call(client, name).catch(() => undefined));
    await client.ping();
    await stop(server);
    await Promise.all(calls);
    expect(ledger.exits).toHaveLength(ledger.enters.length);
  });
});
