import { join } from 'node:path';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/db/database.ts';
import { boot } from '../../src/runtime/boot.ts';
import { defineTool } from '../../src/tool.ts';
import { tempFolder } from '../support/folders.ts';
import { eventually } from '../support/ledger.ts';
import { call, openMemoryServer } from '../support/memory-server.ts';
import { newPostgresUrl, openTestPostgres, queryOn, runOn } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole } from '../support/test-server.ts';

describe('a server on PostgreSQL', () => {
  promiseTest('chain/cancelled', 'a call that waits for the write lock of another server changes nothing', async () => {
    const url = await newPostgresUrl();
    const config = readConfig({ COLIBRI_DATABASE_URL: url, COLIBRI_KEY_PATH: 'none' });
    const projectDbPath = join(tempFolder(), 'colibri.db');
    const other = await openTestPostgres({ url });
    const lock = lockOf(other);
    const insert = defineTool({
      name: 'insert',
      inputSchema: z.strictObject({}),
      access: 'write',
      // The enter entry is committed, and the transaction of the tool has not begun.
      prepare: () => lock.take(),
      handle: (_input, { db }) => db.query("INSERT INTO notes (text) VALUES ('kept')"),
    });
    const { server, client } = await openMemoryServer({
      ownSink: false,
      boot: ({ chain }) => boot({ ...config, projectDbPath }, chain.log, () => undefined),
      loadTools: async () => [insert],
      tools: (register) => register('quick'),
    });
    await server.chain.runtime.passGate(false);
    await runOn(url, 'CREATE TABLE notes (text TEXT NOT NULL)');
    const cancel = new AbortController();
    const waiting = client.callTool({ name: 'insert' }, { signal: cancel.signal });
    await eventually(async () => (await queryOn(url, WAITING)).length > 0);
    cancel.abort('changed my mind');
    await expect(waiting).rejects.toThrow();
    // Messages are handled in order, so an answered tools/list shows that the message before it was handled.
    await client.listTools();
    await lock.release();
    expect((await call(client, 'quick')).ok).toBe(true);
    expect(await queryOn(url, 'SELECT tool, outcome FROM calls ORDER BY sequence_no')).toEqual([
      { tool: 'insert', outcome: 'CANCELLED' },
      { tool: 'quick', outcome: 'ok' },
    ]);
    expect(await queryOn(url, 'SELECT text FROM notes')).toEqual([]);
    await runOn(url, 'DROP TABLE notes');
    await assertWhole(other);
  });
});

const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** The write lock, as another server holds it. */
function lockOf(database: Database) {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held: Promise<unknown> = Promise.resolve();
  return {
    take: () =>
      new Promise<void>((resolve) => {
        held = database.write({ durable: false }, async (transaction) => {
          await transaction.query('SELECT 1');
          resolve();
          await released;
        });
      }),
    release: () => {
      release();
      return held;
    },
  };
}
