import { Socket } from 'node:net';
import { describe, expect, inject, onTestFinished, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { SCHEMA_VERSION, UNFINISHED_VERSION } from '../../src/db/migrate.ts';
import { parsePostgresUrl } from '../../src/db/postgres/url.ts';
import type { Agent } from '../support/agent.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { launchAgent } from '../support/crew/concurrent-agents.ts';
import { tempFolder } from '../support/folders.ts';
import { eventually, processIdOf } from '../support/ledger.ts';
import { newPostgresUrl, openTestPostgres, queryOn, runOn } from '../support/postgres/database.ts';
import { diagnose } from '../support/postgres/docs.ts';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole } from '../support/test-server.ts';
import { Network } from './fixtures/network.ts';

describe('servers that start together', () => {
  promiseTest('process/one-genesis', 'twenty servers on an empty database', async () => {
    const url = await newPostgresUrl();
    const names = Array.from({ length: 20 }, (_, index) => `agent-${index}`);
    const agents = await Promise.all(names.map((name) => launchAgent({ COLIBRI_DATABASE_URL: url }, name)));
    const created = await Promise.all(agents.map((agent) => agent.createTask({ title: 'at the same moment' })));
    await Promise.all(agents.map(({ client }) => client.close()));
    const numbers = created.map(({ sequence }) => sequence).toSorted((a, b) => a - b);
    expect(numbers).toEqual(names.map((_, index) => index + 1));
    const database = await openTestPostgres({ url });
    expect(await database.schemaVersion()).toBe(SCHEMA_VERSION);
    const genesis = await database.read((reader) =>
      reader.query(`SELECT idx FROM ledger_entries WHERE entry LIKE '%"kind":"genesis"%'`),
    );
    expect(genesis).toEqual([{ idx: 0 }]);
    await assertWhole(database);
  });
});

describe('a server on PostgreSQL', () => {
  promiseTest('team/one-log', 'a default transaction isolation of the role has no effect', async () => {
    const url = new URL(await newPostgresUrl());
    url.searchParams.set('options', `${url.searchParams.get('options')} -c default_transaction_isolation=serializable`);
    const names = ['one', 'two', 'three'];
    const agents = await Promise.all(names.map((name) => launchAgent({ COLIBRI_DATABASE_URL: url.href }, name)));
    const create = async (agent: Agent) => {
      for (let count = 0; count < 15; count += 1) await agent.createTask({ title: `task ${count}` });
    };
    await Promise.all(agents.map(create));
    await Promise.all(agents.map(({ client }) => client.close()));
    await assertWhole(await openTestPostgres({ url: url.href }));
  });

  promiseTest(
    'copy/resumed',
    'a running server writes nothing while a copy into its ledger is unfinished',
    async () => {
      const url = await newPostgresUrl();
      const agent = await launchAgent({ COLIBRI_DATABASE_URL: url }, 'agent', 'ignore');
      await agent.createTask({ title: 'before' });
      // After its answer the server adds the key with which it signs.
      await eventually(async () => (await queryOn(url, 'SELECT 1 FROM ledger_keys')).length === 1);
      const size = await sizeOf(url);
      await runOn(url, `UPDATE colibri SET schema_version = ${UNFINISHED_VERSION}`);
      const { failure } = await agent.call('task_create', { title: 'meanwhile' });
      expect(failure).toMatchObject({ code: 'AUDIT_ENTER_FAILED', message: expect.stringContaining('copy') });
      expect(await sizeOf(url)).toBe(size);
      await runOn(url, `UPDATE colibri SET schema_version = ${SCHEMA_VERSION}`);
      expect(await agent.createTask({ title: 'after' })).toMatchObject({ task_id: 'T-0002' });
      await agent.client.close();
    },
  );
});

describe('a server that is silent', () => {
  promiseTest('store/alive', 'it keeps its connection, and a process that never enlisted closes its own', async () => {
    const url = await newPostgresUrl();
    const asker = await openTestPostgres({ url });
    const silent = await openTestPostgres({ url, idleTimeoutMs: 1 });
    await silent.enlist(processIdOf('silent and connected'));
    const reader = await openTestPostgres({ url, idleTimeoutMs: 1 });
    const other = await Promise.all([asker, silent].map(pidOf));
    const closed = await pidOf(reader);
    await eventually(async () => !(await listBackends(url)).includes(closed));
    expect(await listBackends(url)).toEqual(expect.arrayContaining(other));
    expect(await asker.isAlive(processIdOf('silent and connected'))).toBe(true);
    expect(silent.connectionCount()).toBe(1);
  });

  promiseTest('store/alive', 'it finds out within seconds that the other end is gone', async () => {
    // A machine that slept is not told that the server has ended its session; only a probe of the system finds out.
    const probes = vi.spyOn(Socket.prototype, 'setKeepAlive');
    onTestFinished(() => probes.mockRestore());
    await openTestPostgres({ url: await newPostgresUrl() });
    const [isOn, delayMs = 0] = probes.mock.calls[0] ?? [];
    expect(isOn).toBe(true);
    // 0 is the default of the system, which is two hours.
    expect(delayMs).toBeGreaterThan(0);
    expect(delayMs).toBeLessThanOrEqual(20_000);
  });

  promiseTest('store/alive', 'it enlists again, without a call, after its connection was lost', async () => {
    const network = await Network.create(await newPostgresUrl());
    const asker = await openTestPostgres({ url: await newPostgresUrl() });
    const silent = await openTestPostgres({ url: network.url() });
    await silent.enlist(processIdOf('silent and cut off'));
    await runOn(network.url(), `SELECT pg_terminate_backend(${await pidOf(silent)})`);
    await eventually(async () => silent.connectionCount() === 2);
    expect(await asker.isAlive(processIdOf('silent and cut off'))).toBe(true);
    network.isDown = true;
    network.cut();
    await eventually(async () => !(await asker.isAlive(processIdOf('silent and cut off'))));
    network.isDown = false;
    await eventually(() => asker.isAlive(processIdOf('silent and cut off')));
    await silent.close();
    await eventually(async () => !(await asker.isAlive(processIdOf('silent and cut off'))));
  });
});

async function pidOf(database: Database): Promise<number> {
  const [row] = await database.read((reader) => reader.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'));
  return row?.pid ?? 0;
}

async function listBackends(url: string): Promise<number[]> {
  return (await queryOn<{ pid: number }>(url, 'SELECT pid FROM pg_stat_activity')).map(({ pid }) => pid);
}

describe('a database that is away when a server starts', () => {
  promiseTest('fault/recovers', 'calls are refused while the database is down, and work when it is back', async () => {
    const network = await Network.create(await newPostgresUrl());
    network.isDown = true;
    const client = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: network.url() } });
    expect(await client.data('server_health')).toMatchObject({
      status: 'degraded',
      mode: 'MINIMAL',
      problems: [
        { code: 'ERR_INIT_FAILED', message: expect.stringMatching(/cannot be reached.*Colibri retries automatically/) },
      ],
      db: { open: false },
    });
    expect(await client.call('task_create', { title: 'too early' })).toMatchObject({
      data: {
        ok: false,
        error: { code: 'ERR_INIT_FAILED', message: expect.stringContaining('keeps retrying') },
      },
    });
    network.isDown = false;
    await client.logLine('ready');
    expect(await client.call('task_create', { title: 'in time' })).toMatchObject({ data: { task_id: 'T-0001' } });
    expect(await client.data('server_health')).toMatchObject({
      status: 'ok',
      mode: 'FULL',
      phase: 'ready',
      problems: [],
      db: { open: true, engine: 'postgres' },
    });
    expect(await client.end()).toEqual({ code: 0, signal: null });
    await assertWhole(await openTestPostgres({ url: network.url() }));
  });

  promiseTest('fault/recovers', 'a server exits with its client although the database is down', async () => {
    const env = { COLIBRI_DATABASE_URL: 'postgres://someone@127.0.0.1:1/nowhere' };
    const client = await connectRaw({ cwd: tempFolder(), env });
    await client.data('server_health');
    const before = performance.now();
    expect(await client.end()).toEqual({ code: 0, signal: null });
    expect(performance.now() - before).toBeLessThan(4000);
  });
});

describe('a database in another encoding than UTF8', () => {
  for (const encoding of ['SQL_ASCII', 'LATIN1'])
    promiseTest('postgres/encoding', `${encoding}, and nothing is created in it`, async () => {
      const name = `colibri_test_${encoding.toLowerCase()}`;
      const server = inject('postgresUrl');
      const drop = () => runOn(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await drop();
      onTestFinished(drop);
      await runOn(
        server,
        `CREATE DATABASE ${name} ENCODING '${encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
      );
      const url = new URL(server);
      url.pathname = name;
      expect(await healthAt(url.href)).toMatchObject({
        status: 'degraded',
        problems: [
          { code: 'ERR_INIT_FAILED', message: expect.stringMatching(new RegExp(`${encoding}.*ENCODING 'UTF8'`)) },
        ],
      });
      const board = await runColibri(['board'], { COLIBRI_DATABASE_URL: url.href }, tempFolder());
      expect(board).toMatchObject({ status: 2, stderr: expect.stringContaining("ENCODING 'UTF8' TEMPLATE template0") });
      expect((await diagnose(url.href)).find('ledger')).toMatchObject({
        status: 'fail',
        message: expect.stringContaining(encoding),
      });
      const tables = await queryOn(
        url.href,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
      );
      expect(tables).toEqual([]);
    });
});

describe('a mode on PostgreSQL', () => {
  promiseTest('process/modes', 'READONLY reads, refuses to write, and leaves no entry', async () => {
    const url = await newPostgresUrl();
    const writer = await launchAgent({ COLIBRI_DATABASE_URL: url }, 'writer');
    await writer.createTask({ title: 'to be read' });
    await writer.client.close();
    const sizeBefore = await sizeOf(url);
    const reader = await launchAgent({ COLIBRI_DATABASE_URL: url, COLIBRI_MODE: 'READONLY' }, 'reader', 'ignore');
    expect(await reader.getTask({ task_id: 'T-0001' })).toMatchObject({ title: 'to be read' });
    expect((await reader.call('task_create', { title: 'no' })).failure).toMatchObject({ code: 'TOOL_NOT_ADMITTED' });
    await reader.client.close();
    expect(await sizeOf(url)).toBe(sizeBefore);
  });

  promiseTest('process/modes', 'READONLY does not create a ledger', async () => {
    const url = await newPostgresUrl();
    const client = await connectRaw({
      cwd: tempFolder(),
      env: { COLIBRI_DATABASE_URL: url, COLIBRI_MODE: 'READONLY' },
    });
    const health = await client.data('server_health');
    expect(health).toMatchObject({ status: 'degraded', problems: [{ code: 'ERR_INIT_FAILED' }] });
    expect(JSON.stringify(health)).toContain('start a server in FULL mode, the default, to create the ledger');
    await client.end();
  });

  promiseTest('process/modes', 'MINIMAL does not connect at all', async () => {
    const env = { COLIBRI_DATABASE_URL: 'postgres://missing@127.0.0.1:1/nowhere', COLIBRI_MODE: 'MINIMAL' };
    const client = await connectRaw({ cwd: tempFolder(), env });
    expect(await client.data('server_ping')).toMatchObject({ mode: 'MINIMAL' });
    await client.end();
  });
});

describe('the health of a server on PostgreSQL', () => {
  promiseTest('process/health', 'reports engine, location and durability', async () => {
    const url = await newPostgresUrl();
    const health = await healthAt(url);
    const path = parsePostgresUrl(url)?.location;
    expect(health).toMatchObject({
      status: 'ok',
      db: { open: true, engine: 'postgres', durability: 'full', user_version: SCHEMA_VERSION, path },
    });
    expect(path).toMatch(/^postgres:\/\//);
  });

  promiseTest('process/health', 'reports a server whose commits do not wait for the disk', async () => {
    const url = new URL(await newPostgresUrl());
    url.searchParams.set('options', `${url.searchParams.get('options')} -c synchronous_commit=off`);
    expect(await healthAt(url.href)).toMatchObject({
      status: 'degraded',
      problems: [{ code: 'WEAK_DURABILITY', message: expect.stringContaining('synchronous_commit = off') }],
      db: { durability: 'relaxed' },
    });
  });

  promiseTest('process/health', 'reports an unreachable server with what to do', async () => {
    const health = await healthAt('postgres://someone:hidden@127.0.0.1:1/nowhere');
    expect(health).toMatchObject({ status: 'degraded', mode: 'MINIMAL', problems: [{ code: 'ERR_INIT_FAILED' }] });
    expect(JSON.stringify(health)).toContain('cannot be reached');
    expect(JSON.stringify(health)).not.toContain('hidden');
  });

  promiseTest('process/health', 'reports a schema of another program and leaves it unchanged', async () => {
    const url = await newPostgresUrl();
    await runOn(url, 'CREATE TABLE tasks (mine TEXT)');
    const health = await healthAt(url);
    expect(JSON.stringify(health)).toContain('tables of another program');
    await runOn(url, 'INSERT INTO tasks (mine) VALUES (1)');
  });
});

async function healthAt(url: string): Promise<Record<string, unknown>> {
  const client = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: url } });
  const health = await client.data('server_health');
  await client.end();
  return health;
}

async function sizeOf(url: string): Promise<number> {
  const database = await openTestPostgres({ url, readOnly: true });
  const [head] = await database.read((reader) => reader.query<{ size: number }>('SELECT size FROM ledger_head'));
  return head?.size ?? 0;
}
