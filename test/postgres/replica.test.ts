import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Reader } from '../../src/db/database.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { eventually } from '../support/ledger.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { openTestPostgres, queryOn, runOn } from '../support/postgres/database.ts';
import { diagnose } from '../support/postgres/docs.ts';
import { type Ran, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

let primary: Cluster;
let replica: Cluster;

beforeAll(async () => {
  primary = await Cluster.create();
  replica = await primary.createReplica(['max_standby_streaming_delay=0']);
  const { status } = await run(['serve'], primary, '.');
  expect(status).toBe(0);
  await caughtUp();
});
afterAll(async () => {
  await replica.stop();
  await primary.stop();
});

function run(args: readonly string[], cluster: Cluster, cwd = tempFolder()) {
  return runColibri(args, { COLIBRI_DATABASE_URL: cluster.url() }, cwd);
}

function connect(cluster: Cluster, mode: string) {
  return connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: cluster.url(), COLIBRI_MODE: mode } });
}

/** The board shows ages, and the two commands run one after the other. */
function withoutAges(ran: Ran): Ran {
  return { ...ran, stdout: ran.stdout.replaceAll(/\d+[smhd] ago/g, 'some time ago') };
}

/** The replica has replayed what the primary had written when this was asked. */
async function caughtUp(): Promise<void> {
  const [at] = await queryOn<{ lsn: string }>(primary.url(), 'SELECT pg_current_wal_lsn() AS lsn');
  const isThere = `SELECT pg_last_wal_replay_lsn() >= '${at?.lsn}' AS is_there`;
  await eventually(async () => (await queryOn<{ is_there: boolean }>(replica.url(), isThere))[0]?.is_there === true);
}

describe('a streaming replica', () => {
  promiseTest('postgres/replica', 'READONLY works and shows what the primary receives', async () => {
    const writer = await connect(primary, 'FULL');
    const reader = await connect(replica, 'READONLY');
    for (const title of ['one', 'two']) {
      expect(await writer.call('task_create', { title })).toMatchObject({ ok: true });
      await caughtUp();
      expect(JSON.stringify(await reader.call('task_list'))).toContain(`"${title}"`);
    }
    expect(await reader.data('server_health')).toMatchObject({ status: 'ok', mode: 'READONLY', db: { open: true } });
    await Promise.all([writer.end(), reader.end()]);
    await caughtUp();
    const [here, there] = [await run(['verify'], primary), await run(['verify'], replica)];
    expect(there).toEqual(here);
    expect(there).toMatchObject({ status: 0, stdout: expect.stringContaining('whole') });
  });

  for (const command of ['board', 'log', 'next']) {
    promiseTest('postgres/replica', `colibri ${command} prints the same as on the primary`, async () => {
      await caughtUp();
      const [here, there] = [await run([command], primary), await run([command], replica)];
      expect(withoutAges(there)).toEqual(withoutAges(here));
      expect(there).toMatchObject({ status: 0, stderr: '' });
    });
  }

  promiseTest(
    'postgres/replica',
    'a FULL server on a replica stays up and advises connecting to the primary',
    async () => {
      const client = await connect(replica, 'FULL');
      expect(await client.data('server_health')).toMatchObject({
        status: 'degraded',
        problems: [{ code: 'ERR_INIT_FAILED', message: expect.stringMatching(SENT_AWAY) }],
      });
      expect(JSON.stringify(await client.call('task_create', { title: 'never' }))).toMatch(SENT_AWAY);
      await client.end();
    },
  );

  promiseTest('doctor/finds', 'a replica instead of a primary', async () => {
    expect((await diagnose(replica.url())).find('server')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('a read-only replica'),
      fix: expect.stringContaining('COLIBRI_MODE=READONLY'),
    });
    const { status, find } = await diagnose(replica.url(), { COLIBRI_MODE: 'READONLY' });
    expect({ status, server: find('server')?.status }).toEqual({ status: 0, server: 'ok' });
  });

  promiseTest('postgres/replica', 'a write transaction is refused with the same message', async () => {
    const database = await openTestPostgres({ url: replica.url(), readOnly: true });
    const writing = database.write({ durable: true }, (transaction) => transaction.query('SELECT 1'));
    await expect(writing).rejects.toMatchObject({ fault: 'readonly', message: expect.stringMatching(SENT_AWAY) });
    await expect(database.schemaVersion()).resolves.toBeGreaterThan(0);
  });

  /** Rows that a read on the replica still sees, and that the primary cleans up. */
  async function withConflict(work: (reader: Reader, cleanUp: () => Promise<void>) => Promise<unknown>) {
    await runOn(primary.url(), 'CREATE TABLE passing (id INTEGER); INSERT INTO passing SELECT generate_series(1, 9)');
    await caughtUp();
    const database = await openTestPostgres({ url: replica.url(), readOnly: true });
    const cancelled = database.read((reader) =>
      work(reader, async () => {
        await runOn(primary.url(), 'DELETE FROM passing');
        await runOn(primary.url(), 'VACUUM passing');
      }),
    );
    const error: unknown = await cancelled.catch((thrown: unknown) => thrown);
    await caughtUp();
    expect(await database.read((reader) => reader.query('SELECT * FROM passing'))).toEqual([]);
    await runOn(primary.url(), 'DROP TABLE passing');
    return error;
  }

  promiseTest('postgres/replica', 'a statement canceled by the replay is retryable', async () => {
    const isRunning = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'";
    const error = await withConflict(async (reader, cleanUp) => {
      const statement = reader.query('SELECT pg_sleep(50) FROM passing');
      await eventually(async () => (await queryOn(replica.url(), isRunning)).length > 0);
      await Promise.all([statement, cleanUp()]);
    });
    expect(error).toMatchObject({ name: 'DatabaseError', fault: 'busy', message: expect.stringMatching(CANCELLED) });
  });

  promiseTest('postgres/replica', 'a read transaction ended by the replay is retryable', async () => {
    const error = await withConflict(async (reader, cleanUp) => {
      await cleanUp();
      for (;;) await reader.query('SELECT * FROM passing');
    });
    expect(error).toMatchObject({ name: 'DatabaseError', fault: 'busy', message: expect.stringMatching(CANCELLED) });
  });
});

describe('a primary that waits for its replica', () => {
  beforeAll(() => waitFor('*'));
  afterAll(() => waitFor(''));

  async function waitFor(standbys: string): Promise<void> {
    await runOn(primary.url(), `ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`);
    await runOn(primary.url(), 'SELECT pg_reload_conf()');
    const asked = "SELECT current_setting('synchronous_standby_names') AS standbys";
    await eventually(async () => (await queryOn<{ standbys: string }>(primary.url(), asked))[0]?.standbys === standbys);
  }

  const LEVELS: [string, string, RegExp | undefined][] = [
    ['on', 'full', undefined],
    ['remote_apply', 'full', undefined],
    ['remote_write', 'full', /synchronous_commit = remote_write.*crash of both machines/],
    ['local', 'full', /synchronous_commit = local.*failover may lose acknowledged changes/],
    ['off', 'relaxed', /synchronous_commit = off.*crash of its machine may lose acknowledged changes/],
  ];
  for (const [level, durability, weakness] of LEVELS)
    promiseTest('process/health', `reports what a commit with synchronous_commit=${level} survives`, async () => {
      const url = new URL(primary.url());
      url.searchParams.set('options', `-c synchronous_commit=${level}`);
      const client = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: url.href } });
      expect(await client.data('server_health')).toMatchObject({
        status: weakness === undefined ? 'ok' : 'degraded',
        problems: weakness === undefined ? [] : [{ code: 'WEAK_DURABILITY', message: expect.stringMatching(weakness) }],
        db: { durability },
      });
      await client.end();
      expect((await diagnose(url.href)).find('durability')?.status).toBe(weakness === undefined ? 'ok' : 'warn');
    });

  promiseTest('process/health', 'accepts synchronous_commit=local when there is no replica', async () => {
    await waitFor('');
    const url = new URL(primary.url());
    url.searchParams.set('options', '-c synchronous_commit=local');
    const database = await openTestPostgres({ url: url.href });
    expect(await database.durability()).toEqual({ level: 'full' });
  });
});

describe('a replica that becomes the primary', () => {
  promiseTest('fault/recovers', 'a FULL server that was refused starts working after the promotion', async () => {
    const client = await connect(replica, 'FULL');
    expect(await client.data('server_health')).toMatchObject({ status: 'degraded', mode: 'MINIMAL' });
    await runOn(replica.url(), 'SELECT pg_promote()');
    await client.logLine('ready');
    expect(await client.call('task_create', { title: 'after the failover' })).toMatchObject({ ok: true });
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', mode: 'FULL' });
    await client.end();
    expect(await run(['verify'], replica)).toMatchObject({ status: 0 });
  });
});

const CANCELLED = /could not serialize the transaction \(.*conflict with recovery\); call again/;
const SENT_AWAY = /read-only replica.*point COLIBRI_DATABASE_URL at the primary, or use COLIBRI_MODE=READONLY/;
