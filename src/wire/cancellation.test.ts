import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientOptions } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import * as z from 'zod';
import { openRaw } from '../../test/support/ledger.ts';
import { call, createPipes, line, openMemoryServer, request } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { openTwoPages } from '../../test/support/sample-ledgers.ts';
import { readConfig } from '../config.ts';
import type { ReadContext, WriteContext } from '../context.ts';
import { beforeEachStatement } from '../db/before-each-statement.ts';
import type { Database } from '../db/database.ts';
import { parseEntry, saltedDigest } from '../integrity/index.ts';
import { cancellableReader } from '../middleware/cancellable-reader.ts';
import { boot } from '../runtime/boot.ts';
import { type ColibriServerContext, createServer, registerColibriTool, start, stop } from '../server.ts';
import { verifyTaskChain } from '../verification/verify-chain.ts';
import { verifyTables } from '../verification/verify-ledger.ts';

const GENERATIONS: [string, ClientOptions][] = [
  ['2025', {}],
  ['2026', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
];

/** A ledger, and tools that run until they are cancelled. */
function createLedger() {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-cancel-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const opened: { database?: Database } = {};
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let statements = 0;
  return {
    begun,
    path: join(folder, 'colibri.db'),
    countStatements: () => statements,
    boot: async ({ chain }: ColibriServerContext) => {
      const config = readConfig({ COLIBRI_DB_PATH: join(folder, 'colibri.db') });
      const booted = await boot(config, chain.log, () => undefined);
      opened.database = booted.database as Database;
      await opened.database.write({ durable: false }, (db) => db.run('CREATE TABLE notes (text TEXT NOT NULL)'));
      return booted;
    },
    /** Reads forever, like a very long check. */
    spin: async ({ db }: ReadContext) => {
      begin();
      for (;;) {
        await db.query('SELECT 1');
        statements += 1;
      }
    },
    /** Writes, waits until its call is cancelled, then returns normally. */
    persist: async ({ db, signal }: WriteContext) => {
      await db.query("INSERT INTO notes (text) VALUES ('kept')");
      begin();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kept: true };
    },
    listCalls: async () => {
      const rows = await (opened.database as Database).read((db) =>
        db.query<{ tool: string; outcome: string; salt: string; entry: string }>(
          'SELECT tool, outcome, calls.salt, entry FROM calls JOIN ledger_entries ON idx = exit_idx ORDER BY sequence_no',
        ),
      );
      return rows.map(({ tool, outcome, salt, entry }) => {
        const isEmpty = parseEntry(entry)?.['answer'] === saltedDigest('answer', salt, '');
        return `${tool} ${outcome}${isEmpty ? ' without an answer' : ''}`;
      });
    },
    countNotes: async () => (await (opened.database as Database).read((db) => db.query('SELECT 1 FROM notes'))).length,
    verify: async () => (await (opened.database as Database).read(verifyTables)).problems,
  };
}

for (const [generation, client] of GENERATIONS) {
  const open = async () => {
    const ledger = createLedger();
    const door = await openMemoryServer({
      client,
      ownSink: false,
      boot: ledger.boot,
      tools: (register) => {
        const handler = (work: unknown) =>
          ((_args: unknown, context: unknown) => (work as (c: unknown) => unknown)(context)) as () => unknown;
        register('spin', handler(ledger.spin), { access: 'read' });
        register('persist', handler(ledger.persist), { access: 'write' });
        register('quick');
      },
    });
    await door.server.chain.runtime.passGate(false);
    return { ...door, ...ledger };
  };

  promiseTest('chain/cancelled', `${generation}: a long read ends with outcome CANCELLED`, async () => {
    const { client: agent, begun, listCalls, verify } = await open();
    const cancel = new AbortController();
    const spinning = agent.callTool({ name: 'spin' }, { signal: cancel.signal });
    await begun;
    cancel.abort('enough');
    await expect(spinning).rejects.toThrow();
    expect((await call(agent, 'quick')).ok).toBe(true);
    expect(await listCalls()).toEqual(['spin CANCELLED without an answer', 'quick ok']);
    expect(await verify()).toEqual([]);
  });

  promiseTest('chain/cancelled', `${generation}: a call that has not started leaves no trace`, async () => {
    const { client: agent, begun, listCalls } = await open();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const spinning = agent.callTool({ name: 'spin' }, { signal: running.signal });
    await begun;
    const dropped = agent.callTool({ name: 'persist' }, { signal: waiting.signal });
    const next = call(agent, 'quick');
    waiting.abort('changed my mind');
    await expect(dropped).rejects.toThrow();
    running.abort('enough');
    await expect(spinning).rejects.toThrow();
    expect((await next).ok).toBe(true);
    expect(await listCalls()).toEqual(['spin CANCELLED without an answer', 'quick ok']);
  });

  promiseTest(
    'chain/cancelled',
    `${generation}: a call that waits for the write lock of another process changes nothing`,
    async () => {
      const { client: agent, path, listCalls, countNotes, verify } = await open();
      const other = await openRaw(path);
      other.exec('BEGIN IMMEDIATE');
      const cancel = new AbortController();
      const waiting = agent.callTool({ name: 'persist' }, { signal: cancel.signal });
      // Messages are handled in order, so an answered tools/list shows that the message before it was handled.
      await agent.listTools();
      cancel.abort('changed my mind');
      await expect(waiting).rejects.toThrow();
      await agent.listTools();
      other.exec('ROLLBACK');
      expect((await call(agent, 'quick')).ok).toBe(true);
      expect(await listCalls()).toEqual(['persist CANCELLED without an answer', 'quick ok']);
      expect([await countNotes(), await verify()]).toEqual([0, []]);
    },
  );

  promiseTest('chain/cancelled', `${generation}: a transaction that has begun is committed and recorded`, async () => {
    const { client: agent, begun, listCalls, countNotes, verify } = await open();
    const cancel = new AbortController();
    const persisting = agent.callTool({ name: 'persist' }, { signal: cancel.signal });
    await begun;
    cancel.abort('too late');
    await expect(persisting).rejects.toThrow();
    expect((await call(agent, 'quick')).ok).toBe(true);
    expect(await listCalls()).toEqual(['persist ok without an answer', 'quick ok']);
    expect([await countNotes(), await verify()]).toEqual([1, []]);
  });
}

promiseTest('chain/cancelled', 'a server that reads without pause still receives it on stdin', async () => {
  const { input, sent, transport } = createPipes();
  const ledger = createLedger();
  const server = createServer({
    transport,
    mode: 'FULL',
    logger: () => undefined,
    installGlobalHandlers: false,
    boot: ledger.boot,
  });
  const inputSchema = z.strictObject({});
  registerColibriTool(server, 'spin', { inputSchema, access: 'read' }, (_args, context) => ledger.spin(context));
  registerColibriTool(server, 'persist', { inputSchema, access: 'write' }, (_args, context) => ledger.persist(context));
  registerColibriTool(server, 'quick', { inputSchema, access: 'none' }, () => ({}));
  await start(server);
  onTestFinished(() => stop(server));
  const clientInfo = { name: 'raw', version: '1' };
  const cancel = (requestId: string) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  input.write(
    line({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    }),
  );
  input.write(line({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  input.write(line(request('spin', { name: 'spin' })));
  await ledger.begun;
  // Many more than the in-flight limit: each is dropped before the next arrives.
  for (let round = 0; round < 5; round += 1) {
    const ids = Array.from({ length: 100 }, (_, index) => `${round}/${index}`);
    input.write(ids.map((id) => line(request(id, { name: 'persist' })) + line(cancel(id))).join(''));
  }
  input.write(line(cancel('spin')) + line(request('quick', { name: 'quick' })));
  await expect.poll(() => sent().map(({ id }) => id), { timeout: 30_000 }).toEqual([0, 'quick']);
  await transport.idle();
  expect(ledger.countStatements()).toBeGreaterThan(0);
  expect(await ledger.listCalls()).toEqual(['spin CANCELLED without an answer', 'quick ok']);
});

promiseTest('chain/cancelled', 'a verification ends at the statement after the cancellation', async () => {
  const database = await openTwoPages();
  const cancel = new AbortController();
  let after = 0;
  await database.read(async (db) => {
    const counted = cancellableReader(
      beforeEachStatement(db, () => {
        if (cancel.signal.aborted) after += 1;
      }),
      cancel.signal,
      () => 0,
    );
    const options = { withTrace: false, progress: () => cancel.abort() };
    await expect(verifyTaskChain(counted, 1, options)).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(after).toBe(0);
    const whole = await verifyTaskChain(db, 1, { withTrace: false, progress: () => undefined });
    expect([whole.total, whole.defective]).toEqual([180, 0]);
  });
});
