import { describe, expect, it, vi } from 'vitest';
import { call, openDoor, RecordingSink, type Register } from '../test/support/door.ts';
import { keeps } from '../test/support/keeps.ts';
import { settle } from '../test/support/pipes.ts';
import type { Database } from './db/database.ts';
import { DatabaseError } from './db/database.ts';
import type { Booted } from './lifecycle.ts';
import { stop } from './server.ts';

function registerTools(register: Register): void {
  register('early', undefined, { early: true });
  register('health');
  register('reads', undefined, { access: 'read' });
  register('nested', undefined, { access: 'write', errorPattern: 'B' });
}

/** A second phase that a test finishes by hand. */
function holdOpen() {
  let finish: (booted: Booted) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const booted = new Promise<Booted>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { secondPhase: () => booted, finish, fail };
}

async function openHeld() {
  const held = holdOpen();
  const ledger = new RecordingSink();
  const door = await openDoor({ secondPhase: held.secondPhase, ownSink: false, tools: registerTools });
  return { ...door, ...held, ledger };
}

describe('while the second phase runs', () => {
  keeps('boot/gate', 'and the handshake and the list answer at once', async () => {
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

  keeps('boot/gate', 'a call of an unknown tool waits, for it is recorded too', async () => {
    const { client, finish, ledger } = await openHeld();
    const refused = client.callTool({ name: 'nothing' }).catch(({ code }: { code: number }) => code);
    finish({ audit: ledger });
    expect(await refused).toBe(-32602);
    expect(ledger.story).toEqual(['enter nothing', 'exit nothing UNKNOWN_TOOL']);
  });

  keeps('boot/early-recorded', 'with the times at which they happened', async () => {
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

  keeps('boot/early-recorded', 'past a thousand of them the next one waits', async () => {
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

describe('a second phase that fails', () => {
  keeps('boot/degraded', 'in MINIMAL mode, with what went wrong', async () => {
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

  keeps('boot/degraded', 'in the pattern of each tool', async () => {
    const { client, fail } = await openHeld();
    fail(new Error('no'));
    const { ok, data, isError } = await call(client, 'nested');
    expect({ ok, isError }).toEqual({ ok: true, isError: true });
    expect(data).toMatchObject({ ok: false, error: { code: 'ERR_INIT_FAILED' } });
  });

  keeps('boot/degraded', 'tools that need no ledger go on', async () => {
    const { client, fail } = await openHeld();
    fail('just a string');
    expect((await call(client, 'health')).ok).toBe(true);
    expect((await call(client, 'early')).ok).toBe(true);
  });

  keeps('boot/degraded', 'calls are then recorded in the log, the early ones too', async () => {
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

  keeps('boot/degraded', 'also when the early calls cannot be recorded, and the database is closed', async () => {
    const { client, server, finish, ledger } = await openHeld();
    await call(client, 'early');
    ledger.enterThrows = new Error('the disk is full');
    const close = vi.fn(async () => undefined);
    finish({ audit: ledger, database: { close } as unknown as Database });
    expect((await call(client, 'reads')).error?.message).toContain('the disk is full');
    expect(close).toHaveBeenCalledTimes(1);
    expect(server.chain.runtime.database).toBeUndefined();
  });

  keeps('door/list', 'the list does not change while a client has it', async () => {
    const { client, fail } = await openHeld();
    fail(new Error('no'));
    await call(client, 'health');
    expect((await client.listTools()).tools).toHaveLength(4);
  });
});

describe('stop', () => {
  keeps('boot/drains', 'a database that is still being opened', async () => {
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
