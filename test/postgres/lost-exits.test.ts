import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished } from 'vitest';
import { redactEntry } from '../../src/cli/redaction/redact-entry.ts';
import { leafHash } from '../../src/integrity/index.ts';
import { nextTail } from '../../src/ledger/tail.ts';
import { placeLedger } from '../support/ledger-targets.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { newPostgresUrl, queryOn, runOn } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type ServerOptions, type TestServer } from '../support/test-server.ts';
import { Network } from './fixtures/network.ts';

describe('exits that a crash of the database lost', () => {
  promiseTest(
    'team/crash',
    'an answered call whose enter survived is not closed as interrupted by the next call',
    async () => {
      const url = await newPostgresUrl();
      const network = await Network.create(url);
      const server = await open(network.url());
      const [before] = await queryOn<Head>(url, 'SELECT size::int, tail FROM ledger_head');
      expect(await server.refusal('task_get', { task_id: 'T-0009' })).toMatchObject({ code: 'ERR_NOT_FOUND' });
      await loseExit(url, before as Head);
      // The connection breaks at the next enter, as it does when the server crashes.
      network.judge = () => {
        network.judge = () => 'pass';
        return 'cut';
      };
      await server.createTask({ title: 'next' });
      await server.createTask({ title: 'after' });
      expect(await outcomes(server)).toEqual(['ERR_NOT_FOUND', 'ok', 'ok']);
      await assertWhole(server.database);
    },
  );

  promiseTest('redact/gone', 'a call that was redacted since is not written again', async () => {
    const url = await newPostgresUrl();
    const network = await Network.create(url);
    const server = await open(network.url());
    await server.refusal('task_get', { task_id: 'hunter2' });
    const [call] = await queryOn<{ last: number }>(url, 'SELECT MAX(sequence_no)::int AS last FROM calls');
    const decision = { reason: 'a password', actor: 'person:alice', at: new Date().toISOString() };
    await server.database.write({ durable: true }, (db) => redactEntry(db, call?.last ?? -1, decision));
    network.cut();
    await server.createTask({ title: 'next' });
    expect(await outcomes(server)).toEqual(['ERR_NOT_FOUND', 'ok']);
    expect(await queryOn(url, "SELECT idx FROM ledger_entries WHERE content LIKE '%hunter2%'")).toEqual([]);
    await assertWhole(server.database);
  });

  promiseTest('team/crash', 'the next call writes all lost exits again', async () => {
    const cluster = await createForgetfulCluster();
    const server = await open(cluster.url());
    const CALLS = 250;
    await crashAfter(cluster, async () => {
      for (let call = 0; call < CALLS; call += 1) await server.refusal('task_get', { task_id: 'T-0009' });
    });
    const [left] = await queryOn<{ count: number }>(cluster.url(), 'SELECT count(*)::int AS count FROM calls');
    expect(left?.count).toBeLessThan(CALLS - 101);
    await server.createTask({ title: 'next' });
    const all = await outcomes(server);
    expect(all.filter((outcome) => outcome === 'ERR_NOT_FOUND')).toHaveLength(CALLS);
    expect(all.filter((outcome) => outcome !== 'ERR_NOT_FOUND')).toEqual(['ok']);
    await assertWhole(server.database);
  });

  promiseTest(
    'team/crash',
    'the number of a lost call may be that of another agent, whose sign of life stays',
    async () => {
      const cluster = await createForgetfulCluster();
      const [holder, other] = [await open(cluster.url(), 'holder'), await open(cluster.url(), 'other')];
      await holder.createTask({ title: 'held', status: 'todo' });
      await holder.call('task_update', { task_id: 'T-0001', status: 'in_progress' });
      const numberOf = (actor: string) =>
        queryOn<{ last: number }>(
          cluster.url(),
          `SELECT MAX(sequence_no)::int AS last FROM calls WHERE actor = '${actor}'`,
        );
      await other.call('server_ping', {});
      let lost: { last: number }[] = [];
      await crashAfter(cluster, async () => {
        await other.call('server_ping', {});
        lost = await numberOf('other');
      });
      await holder.call('server_ping', {});
      expect(await numberOf('holder')).toEqual(lost);
      await other.call('server_ping', {});
      expect(await other.refusal('task_update', { task_id: 'T-0001', status: 'in_progress' })).toMatchObject({
        code: 'ERR_CLAIM_HELD',
      });
      await assertWhole(holder.database);
    },
  );
});

describe('an agent whose first call is lost', () => {
  promiseTest('agents/names', 'takes the name of no other agent, and has one', async () => {
    const url = await newPostgresUrl();
    const network = await Network.create(url);
    const first = await openUnnamed(url);
    await first.createTask({ title: 'first' });
    const second = await openUnnamed(network.url({ lock_timeout: '2000', statement_timeout: '2000' }));
    network.isDown = true;
    network.cut();
    expect(await second.refusal('task_create', { title: 'never' })).toMatchObject({ code: 'AUDIT_ENTER_FAILED' });
    network.isDown = false;
    await second.createTask({ title: 'second' });
    const calls = await first.query('SELECT actor, outcome FROM calls ORDER BY sequence_no');
    expect(calls).toEqual([
      { actor: 'agent', outcome: 'ok' },
      { actor: 'agent#2', outcome: 'AUDIT_ENTER_FAILED' },
      { actor: 'agent#2', outcome: 'ok' },
    ]);
    await assertWhole(first.database);
  });
});

async function createForgetfulCluster(): Promise<Cluster> {
  const cluster = await Cluster.create(ONLY_WAL_WRITER_FLUSHES);
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** What the work commits without waiting for the disk is lost. */
async function crashAfter(cluster: Cluster, work: () => Promise<void>): Promise<void> {
  await runOn(cluster.url(), 'CHECKPOINT');
  const [writer] = await queryOn<{ pid: number }>(cluster.url(), WAL_WRITER);
  const walWriter = writer?.pid ?? 0;
  process.kill(walWriter, 'SIGSTOP');
  await work();
  const killed = cluster.kill('SIGQUIT');
  process.kill(walWriter, 'SIGKILL');
  await killed;
  await cluster.restart();
}

/** With the WAL writer stopped, commits that do not wait for the disk stay in the memory of the server. */
const ONLY_WAL_WRITER_FLUSHES = [
  'wal_buffers=16MB',
  'autovacuum=off',
  'bgwriter_lru_maxpages=0',
  'checkpoint_timeout=1d',
];
const WAL_WRITER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'";

interface Head {
  readonly size: number;
  readonly tail: string;
}

async function openUnnamed(url: string): Promise<TestServer> {
  return openAt(url, 'agent', {});
}

async function open(url: string, name = 'tester'): Promise<TestServer> {
  const server = await openAt(url, name, { COLIBRI_AGENT_ID: name });
  await server.database.write({ durable: false }, async () => undefined);
  return server;
}

async function openAt(
  url: string,
  name: string,
  settings: NonNullable<ServerOptions['settings']>,
): Promise<TestServer> {
  const path = randomUUID();
  placeLedger(path, url);
  const server = await openServer(path, name, { isTolerant: true, settings });
  onTestFinished(() => server.close());
  return server;
}

/** Simulates a crash between the enter and the exit of the last call, which did not wait for the disk. */
async function loseExit(url: string, { size, tail }: Head): Promise<void> {
  const [enter] = await queryOn<{ entry: string }>(url, `SELECT entry FROM ledger_entries WHERE idx = ${size}`);
  const tailThen = nextTail(tail, leafHash(enter?.entry ?? ''), size + 1);
  await runOn(
    url,
    `ALTER TABLE ledger_entries DISABLE TRIGGER USER; ALTER TABLE call_exits DISABLE TRIGGER USER;
     DELETE FROM ledger_entries WHERE idx = ${size + 1};
     DELETE FROM call_exits WHERE sequence_no = ${size};
     UPDATE ledger_head SET size = ${size + 1}, tail = '${tailThen}';
     ALTER TABLE ledger_entries ENABLE TRIGGER USER; ALTER TABLE call_exits ENABLE TRIGGER USER;`,
  );
}

async function outcomes(server: TestServer): Promise<(string | null)[]> {
  const rows = await server.query<{ outcome: string | null }>('SELECT outcome FROM calls ORDER BY sequence_no');
  return rows.map(({ outcome }) => outcome);
}
