import fs, { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { call, openMemoryServer, type Register } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { readConfig } from '../config.ts';
import type { WriteContext } from '../context.ts';
import { type Database, DatabaseError } from '../db/database.ts';
import { ColibriError } from '../errors.ts';
import { parseEntry, type Salt, saltedDigest } from '../integrity/index.ts';
import { boot } from '../runtime/boot.ts';
import { verifyTables } from '../verification/verify-ledger.ts';
import type { AuditSink } from './audit.ts';

/** A server with its own ledger. The tool `note` writes one row and then calls `then`. */
async function openWithLedger(
  then: () => unknown = () => ({}),
  { enter, ownSink = false }: { readonly enter?: AuditSink['enter']; readonly ownSink?: boolean } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-door-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const ledger: { database?: Database } = {};
  const door = await openMemoryServer({
    ownSink,
    boot: async ({ chain }) => {
      const config = readConfig({ COLIBRI_DB_PATH: join(folder, 'colibri.db') });
      const booted = await boot(config, chain.log, () => undefined);
      ledger.database = booted.database as Database;
      await ledger.database.write({ durable: false }, (db) => db.run('CREATE TABLE notes (text TEXT NOT NULL)'));
      return {
        ...booted,
        audit: {
          enter: enter ?? booted.audit.enter.bind(booted.audit),
          exit: booted.audit.exit.bind(booted.audit),
        },
      };
    },
    tools: (register) => {
      registerNote(register, then);
      register('ask', then);
    },
  });
  await door.server.chain.runtime.passGate(false);
  const database = ledger.database as Database;
  return {
    ...door,
    database,
    countNotes: async () => (await database.read((db) => db.query('SELECT text FROM notes'))).length,
    listOutcomes: async () =>
      (
        await database.read((db) =>
          db.query<{ outcome: string | null }>('SELECT outcome FROM calls ORDER BY sequence_no'),
        )
      ).map(({ outcome }) => outcome),
    verify: async () => (await database.read(verifyTables)).problems,
  };
}

function registerNote(register: Register, then: () => unknown): void {
  const note = async (_args: unknown, context: WriteContext) => {
    await context.db.query('INSERT INTO notes (text) VALUES ($1)', ['hello']);
    return then();
  };
  register('note', note as () => unknown, { access: 'write' });
}

promiseTest('chain/undone', 'a success is committed', async () => {
  const { client, countNotes, listOutcomes, verify } = await openWithLedger();
  expect((await call(client, 'note')).ok).toBe(true);
  expect(await countNotes()).toBe(1);
  expect(await listOutcomes()).toEqual(['ok']);
  expect(await verify()).toEqual([]);
});

promiseTest('chain/undone', 'a rule that fails after writing is rolled back', async () => {
  const { client, countNotes, listOutcomes, verify } = await openWithLedger(() => {
    throw new ColibriError('ERR_NOT_FOUND', 'no');
  });
  expect((await call(client, 'note')).error?.message).toBe('ERR_NOT_FOUND: no');
  expect(await countNotes()).toBe(0);
  expect(await listOutcomes()).toEqual(['ERR_NOT_FOUND']);
  expect(await verify()).toEqual([]);
});

promiseTest('chain/undone', 'a result without JSON text is rolled back', async () => {
  const { client, countNotes, listOutcomes, verify } = await openWithLedger(() => ({ big: 1n }));
  expect((await call(client, 'note')).error?.code).toBe('INTERNAL');
  expect(await countNotes()).toBe(0);
  expect(await listOutcomes()).toEqual(['INTERNAL']);
  expect(await verify()).toEqual([]);
});

promiseTest('chain/undone', 'an enter that cannot be written keeps the tool from running', async () => {
  const enter = () => {
    throw new Error('the disk is full');
  };
  const { client, countNotes, listOutcomes, verify } = await openWithLedger(undefined, { enter });
  expect((await call(client, 'note')).error?.code).toBe('AUDIT_ENTER_FAILED');
  expect(await countNotes()).toBe(0);
  expect(await listOutcomes()).toEqual([]);
  expect(await verify()).toEqual([]);
});

promiseTest('chain/undone', 'an exit that cannot be written rolls the change back', async () => {
  const door = await openWithLedger();
  await door.database.write({ durable: false }, (db) =>
    db.run(`CREATE TRIGGER full BEFORE INSERT ON ledger_entries
      WHEN NEW.entry ->> 'kind' = 'action.exit' AND NEW.entry ->> 'outcome' = 'ok'
      BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`),
  );
  const { error } = await call(door.client, 'note');
  await door.database.write({ durable: false }, (db) => db.run('DROP TRIGGER full'));
  expect(error?.code).toBe('AUDIT_EXIT_FAILED');
  expect(error?.message).toContain('nothing was changed: the disk is full');
  expect(await door.countNotes()).toBe(0);
  expect(await door.listOutcomes()).toEqual(['AUDIT_EXIT_FAILED']);
  expect(await door.verify()).toEqual([]);
});

promiseTest('door/own-sink', 'if its exit throws, the change is rolled back', async () => {
  const { client, countNotes, sink } = await openWithLedger(undefined, { ownSink: true });
  sink.exitThrows = new Error('the disk is full');
  expect((await call(client, 'note')).error).toMatchObject({
    code: 'AUDIT_EXIT_FAILED',
    message: expect.stringContaining('nothing was changed: the disk is full'),
  });
  expect(await countNotes()).toBe(0);
  sink.exitThrows = undefined;
  expect((await call(client, 'note')).ok).toBe(true);
  expect(await countNotes()).toBe(1);
  expect(sink.story).toEqual(['enter note', 'enter note', 'exit note ok']);
});

promiseTest('chain/undone', 'refused inputs and unknown tools are recorded too', async () => {
  const { client, countNotes, listOutcomes, verify } = await openWithLedger();
  await call(client, 'note', { surprise: '\ud800' });
  await client.callTool({ name: 'nothing' }).catch(() => undefined);
  await call(client, 'note');
  expect(await countNotes()).toBe(1);
  expect(await listOutcomes()).toEqual(['INVALID_PARAMS', 'UNKNOWN_TOOL', 'ok']);
  expect(await verify()).toEqual([]);
});

for (const failures of [1, 2]) {
  promiseTest(
    'chain/exit-fails',
    `after ${failures} failed attempts the call has one exit, with the outcome that the client got`,
    async () => {
      const { client, database, listOutcomes, verify } = await openWithLedger(() => {
        const write = vi.spyOn(database, 'write');
        for (let time = 0; time < failures; time += 1)
          write.mockRejectedValueOnce(new DatabaseError('full', 'the disk is full'));
        return {};
      });
      expect((await call(client, 'ask')).error?.code).toBe('AUDIT_EXIT_FAILED');
      await call(client, 'nested', {}).catch(() => undefined);
      expect(await listOutcomes()).toEqual(['AUDIT_EXIT_FAILED', 'UNKNOWN_TOOL']);
      expect(await verify()).toEqual([]);
    },
  );
}

promiseTest('store/unsynced', 'the client gets an error, and the call stays recorded as ok', async () => {
  const { client, countNotes, listOutcomes, verify } = await openWithLedger();
  await call(client, 'note');
  const failure = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  const flushes = [
    vi.spyOn(fs, 'fdatasync').mockImplementation((_file, done) => done(failure)),
    vi.spyOn(fs, 'fdatasyncSync').mockImplementation(() => {
      throw failure;
    }),
  ];
  const { error, isError } = await call(client, 'note');
  for (const flush of flushes) flush.mockRestore();
  expect(isError).toBe(true);
  expect(error).toMatchObject({
    code: 'AUDIT_EXIT_FAILED',
    message: expect.stringMatching(/^note was done and recorded, but .*check the disk/),
  });
  expect((await call(client, 'note')).isError).toBeFalsy();
  expect(await countNotes()).toBe(3);
  expect(await listOutcomes()).toEqual(['ok', 'ok', 'ok']);
  expect(await verify()).toEqual([]);
});

promiseTest('chain/prepare', '`prepare` runs without the write lock, and the handler gets its result', async () => {
  const { client, countNotes, database, server, verify } = await openWithLedger();
  server.registerColibriTool({
    name: 'prepared',
    inputSchema: z.strictObject({}),
    access: 'write',
    prepare: async (_input, { read }) => {
      // Never resolves if the write lock is held here.
      await database.write({ durable: false }, async (db) => db.send("INSERT INTO notes (text) VALUES ('meanwhile')"));
      return read((db) => db.query('SELECT text FROM notes'));
    },
    handle: (_input, _context, prepared) => ({ prepared }),
  });
  expect((await call(client, 'prepared')).data).toEqual({ prepared: [{ text: 'meanwhile' }] });
  expect(await countNotes()).toBe(1);
  expect(await verify()).toEqual([]);
});

promiseTest('chain/prepare', 'a tool whose `prepare` fails does not run, and its call is recorded', async () => {
  const { client, countNotes, listOutcomes, server, verify } = await openWithLedger();
  server.registerColibriTool({
    name: 'unprepared',
    inputSchema: z.strictObject({}),
    access: 'write',
    prepare: () => {
      throw new ColibriError('ERR_NOT_FOUND', 'no task T-0099; call task_list to see existing tasks');
    },
    handle: (_input, context) => (context as WriteContext).db.query("INSERT INTO notes (text) VALUES ('no')"),
  });
  expect((await call(client, 'unprepared')).error).toMatchObject({
    message: expect.stringContaining('no task T-0099'),
  });
  expect(await countNotes()).toBe(0);
  expect(await listOutcomes()).toEqual(['ERR_NOT_FOUND']);
  expect(await verify()).toEqual([]);
});

promiseTest('chain/unknown-tool', 'the exit entry holds the digest of an empty text', async () => {
  const { client, database, verify } = await openWithLedger();
  await client.callTool({ name: 'nothing', arguments: {} }).catch(() => undefined);
  const [row] = await database.read((db) =>
    db.query<{ entry: string; salt: string }>(
      "SELECT entry, calls.salt FROM calls JOIN ledger_entries ON idx = exit_idx WHERE tool = 'nothing'",
    ),
  );
  expect(parseEntry(row?.entry ?? '')).toMatchObject({
    outcome: 'UNKNOWN_TOOL',
    answer: saltedDigest('answer', row?.salt as Salt, ''),
  });
  expect(await verify()).toEqual([]);
});
