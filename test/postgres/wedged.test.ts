import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { placeLedger } from '../support/ledger-targets.ts';
import { newPostgresUrl, runOn } from '../support/postgres/database.ts';
import { blocksOf } from '../support/postgres/docs.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer } from '../support/test-server.ts';

const [REMEDY = '', BLOCKERS = ''] = blocksOf('A ledger that takes no entry', 'sql');
const ENTRY = `'{"actor":"x","at":"x","kind":"genesis","ledger_id":"x","v":1}'`;

/** What a role may do that may only add rows, by the table that is then named. */
const WEDGES: readonly (readonly [table: string, what: string, insert: string])[] = [
  ['ledger_entries', 'an entry behind the last', `INSERT INTO ledger_entries SELECT size, ${ENTRY} FROM ledger_head`],
  [
    'ledger_entries',
    'an entry further on, instead of an exit',
    `INSERT INTO ledger_entries SELECT size + 2, ${ENTRY} FROM ledger_head`,
  ],
  ['presence', 'a sign of life behind the last', "INSERT INTO presence SELECT size, 'x' FROM ledger_head"],
  ['call_exits', 'an exit of a call behind the last', 'INSERT INTO call_exits SELECT size, size + 2 FROM ledger_head'],
  ['ledger_nodes', 'a node that is not finished', "INSERT INTO ledger_nodes SELECT 4, size / 16, 'x' FROM ledger_head"],
];

describe('a role that may add rows', () => {
  for (const [table, what, insert] of WEDGES)
    promiseTest('postgres/wedged', what, async () => {
      const { url, server } = await openLedger();
      await runOn(url, insert);
      const failure = await createUntilRefused(server);
      expect(failure.message).toContain('a row that Colibri did not write blocks the next entry');
      expect(failure.message).toContain('; run colibri verify');
      expect(failure.message).toContain(`${table}: Key (`);
      const { problems } = await server.database.read((reader) => verifyEverything(reader));
      expect(problems.length).toBeGreaterThan(0);
      await runOn(url, REMEDY);
      await server.createTask({ title: 'works again' });
      await assertWhole(server.database);
    });

  promiseTest('postgres/wedged', 'an entry far beyond the head prevents servers from starting', async () => {
    const { url } = await openLedger();
    await runOn(url, `INSERT INTO ledger_entries VALUES (1000000000000, ${ENTRY})`);
    await expect(openAt(url)).rejects.toThrow(/the log does not match its head/);
    await runOn(url, REMEDY);
    const server = await openAt(url);
    await server.createTask({ title: 'works again' });
    await assertWhole(server.database);
  });

  promiseTest('postgres/wedged', 'the session that holds the lock is found and terminated', async () => {
    const { url, server } = await openLedger({ lock_timeout: '300' });
    const holder = new Client({ connectionString: url });
    holder.on('error', () => undefined);
    await holder.connect();
    await holder.query('BEGIN; SELECT 1 FROM colibri WHERE id = 1 FOR UPDATE');
    const failure = await createUntilRefused(server);
    expect(failure.message).toMatch(/keeps the ledger locked.*A ledger that takes no entry/);
    await runOn(url, BLOCKERS);
    await server.createTask({ title: 'works again' });
    await assertWhole(server.database);
  });
});

async function createUntilRefused(server: TestServer): Promise<{ message: string }> {
  for (let count = 0; count < 20; count += 1) {
    const { isError, structuredContent } = await server.client.callTool({
      name: 'task_create',
      arguments: { title: `task ${count}` },
    });
    if (isError) return (structuredContent as { error: { message: string } }).error;
  }
  throw new Error('every call was taken');
}

async function openLedger(parameters: Readonly<Record<string, string>> = {}) {
  const url = new URL(await newPostgresUrl());
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const server = await openAt(url.href);
  // One row at least in every table that the script of the page deletes from.
  const { task_id } = await server.createTask({ title: 'honest', status: 'todo' });
  const { session_id } = await server.startSession({ task_id, auditor_id: 'tester' });
  for (let count = 0; count < 5; count += 1)
    await server.recordThought({ task_id, type: 'decision', content: `${count}` });
  await server.updateTask({ task_id, status: 'in_progress' });
  await server.finalize({ session_id });
  return { url: url.href, server };
}

async function openAt(url: string): Promise<TestServer> {
  const path = randomUUID();
  placeLedger(path, url);
  const server = await openServer(path, 'tester', { isTolerant: true, settings: { COLIBRI_AGENT_ID: 'tester' } });
  onTestFinished(() => server.close());
  return server;
}
