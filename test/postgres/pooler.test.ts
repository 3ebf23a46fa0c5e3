import { describe, expect, onTestFinished, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Agent, Reply } from '../support/agent.ts';
import { launchAgent } from '../support/crew/concurrent-agents.ts';
import { newPostgresUrl, openTestPostgres, queryOn, runOn } from '../support/postgres/database.ts';
import { diagnose } from '../support/postgres/docs.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole } from '../support/test-server.ts';
import { Pooler } from './fixtures/pooler.ts';

const ADVICE = /a pooler .*session mode.*connect to the database directly/;

describe('a pooler in transaction mode', () => {
  for (const backends of [1, 2])
    promiseTest(
      'postgres/pooler',
      `transaction mode with ${backends} connections: a server does not start and reports why`,
      async () => {
        const pooler = await Pooler.create(await newPostgresUrl(), 'transaction', { backends });
        pooler.assign = () => 0;
        await expect(openTestPostgres({ url: pooler.url() })).rejects.toMatchObject({
          fault: 'refused',
          message: expect.stringMatching(ADVICE),
        });
        // Other programs get this connection next.
        const [settings] = await queryOn<Record<string, string>>(
          pooler.url(),
          "SELECT current_setting('colibri.session', TRUE) AS mark, current_setting('row_security') AS row_security",
        );
        expect([settings?.['mark'] || undefined, settings?.['row_security']]).toEqual([undefined, 'on']);
      },
    );

  promiseTest('postgres/pooler', 'a pooler that rotates its backends is detected too', async () => {
    const pooler = await Pooler.create(await newPostgresUrl(), 'transaction', { backends: 3 });
    let transactions = 0;
    pooler.assign = () => (transactions += 1);
    await expect(openTestPostgres({ url: pooler.url() })).rejects.toMatchObject({ fault: 'refused' });
  });

  promiseTest('doctor/finds', 'reports a pooler in transaction mode and what to configure', async () => {
    const pooler = await Pooler.create(await newPostgresUrl(), 'transaction', { backends: 1 });
    const { status, find } = await diagnose(pooler.url());
    expect(status).toBe(1);
    expect(find('ledger')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('a pooler hands this connection to other clients'),
      fix: expect.stringMatching(/PgBouncer.*pool_mode = session.*Supabase.*directly/),
    });
  });
});

describe('a pooler in transaction mode that was not found at the start', () => {
  promiseTest('postgres/pooler', 'no server executes a statement that another one has prepared', async () => {
    const url = await newPostgresUrl();
    const pooler = await createLatePooler(url);
    const [writer, remover] = [await openInOwnProcess(pooler.url()), await openInOwnProcess(pooler.url())];
    await runOn(url, 'CREATE TABLE words (word TEXT)');
    const insert = (word: string) =>
      writer.write({ durable: true }, (db) => db.query('INSERT INTO words (word) VALUES ($1)', [word]));
    await insert('first');
    await remover.write({ durable: true }, (db) => db.query('DELETE FROM words WHERE word = $1', ['nothing']));
    pooler.swap();
    const acknowledged = ['first'];
    for (const word of ['a', 'b', 'c', 'd'])
      await insert(word).then(
        () => acknowledged.push(word),
        (error: unknown) => expect(error).toMatchObject({ message: expect.stringMatching(ADVICE) }),
      );
    expect(acknowledged).not.toContain('a');
    const words = await queryOn<{ word: string }>(url, 'SELECT word FROM words');
    expect(words.map(({ word }) => word)).toEqual(acknowledged);
  });

  promiseTest('postgres/pooler', 'acknowledged calls were done, and refused calls were not', async () => {
    const url = await newPostgresUrl();
    const pooler = await createLatePooler(url);
    const [maker, reader] = [await launch(pooler.url(), 'maker'), await launch(pooler.url(), 'reader')];
    // Each prepares its statements in an order of its own, on a backend of its own.
    for (let count = 0; count < 3; count += 1) await maker.createTask({ title: `before ${count}` });
    for (let count = 0; count < 3; count += 1) await readAndUpdate(reader);
    const [made, renamed, refused] = [[] as string[], [] as string[], [] as Reply[]];
    for (let count = 0; count < 8; count += 1) {
      pooler.swap();
      const create = await maker.call('task_create', { title: `after ${count}` });
      if (create.failure === undefined) made.push(`after ${count}`);
      else refused.push(create);
      const update = await reader.call('task_update', { task_id: 'T-0001', title: `renamed ${count}` });
      if (update.failure === undefined) renamed.push(`renamed ${count}`);
      else refused.push(update);
    }
    const titles = await queryOn<{ title: string }>(url, 'SELECT title FROM tasks ORDER BY task_no');
    expect(titles.map(({ title }) => title).filter((title) => title.startsWith('after'))).toEqual(made);
    expect(titles[0]?.title).toBe(renamed.at(-1) ?? 'before 0');
    expect(refused.length).toBeGreaterThan(0);
    for (const { failure } of refused) expect(failure?.message).toMatch(ADVICE);
    await assertWhole(await openTestPostgres({ url }));
  });

  promiseTest('postgres/pooler', 'a server notices that other clients have used its backend', async () => {
    const url = await newPostgresUrl();
    const pooler = await createLatePooler(url);
    const database = await openInOwnProcess(pooler.url());
    pooler.assign = () => 0;
    for (const attempt of [
      () => database.read((reader) => reader.query('SELECT 1 AS one')),
      () => database.write({ durable: true }, (db) => db.query('SELECT 1 AS one')),
    ]) {
      expect(await attempt()).toEqual([{ one: 1 }]);
      await runOn(pooler.url(), 'DISCARD ALL');
      await expect(attempt()).rejects.toMatchObject({ fault: 'refused', message: expect.stringMatching(ADVICE) });
    }
  });
});

describe('a pooler in session mode', () => {
  promiseTest('postgres/pooler', 'session mode works like a direct connection', async () => {
    const url = await newPostgresUrl();
    const pooler = await Pooler.create(url, 'session', { backends: 8 });
    const agents = [await launch(pooler.url(), 'one'), await launch(pooler.url(), 'two')];
    for (const agent of [...agents, ...agents]) await agent.createTask({ title: 'through a pooler' });
    expect((await diagnose(pooler.url())).find('ledger')).toMatchObject({ status: 'ok' });
    await assertWhole(await openTestPostgres({ url }));
  });
});

/** The names of statements are those of a process: each has modules of its own. */
async function openInOwnProcess(url: string): Promise<Database> {
  vi.resetModules();
  const { openPostgres } = await import('../../src/db/postgres/database.ts');
  const limits = { busyTimeoutMs: 30_000, statementTimeoutMs: 60_000 };
  const database = await openPostgres({ url, readOnly: false, durability: 'full', ...limits });
  onTestFinished(() => database.close());
  return database;
}

async function launch(url: string, name: string): Promise<Agent> {
  const agent = await launchAgent({ COLIBRI_DATABASE_URL: url }, name, 'ignore');
  onTestFinished(() => agent.client.close());
  await agent.call('server_ping', {});
  return agent;
}

async function readAndUpdate(agent: Agent): Promise<void> {
  await agent.listThoughts({});
  await agent.nextActions({});
  await agent.getTask({ task_id: 'T-0001' });
  await agent.call('audit_verify_chain', { task_id: 'T-0001' });
  await agent.updateTask({ task_id: 'T-0002', priority: 'high' });
}

/**
 * Every server has a connection and, for a moment, a second one: neither meets the other until the backends are
 * swapped.
 */
async function createLatePooler(url: string): Promise<Pooler & { swap: () => void }> {
  const pooler = await Pooler.create(url, 'transaction');
  let turn = 0;
  pooler.assign = (client) => turn + client + Math.floor(client / 2);
  return Object.assign(pooler, { swap: () => (turn += 1) });
}
