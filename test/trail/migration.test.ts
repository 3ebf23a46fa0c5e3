import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { createTables, migrate, SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { removeClaims } from '../support/forge/without-claims.ts';
import { AT } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, makeOlder, openFile } from '../support/sample-ledgers.ts';
import { assertWhole, openServer, withFolder } from '../support/test-server.ts';

const idxOf = (thought: number) => `(SELECT idx FROM thoughts WHERE thought_no = ${thought})`;

const FORGERIES: Readonly<Record<string, string>> = {
  'a place too many': `INSERT INTO session_records (session_no, session_seq, idx) VALUES (1, 1000, ${idxOf(2)})`,
  'a place in a session that there is not': `INSERT INTO session_records (session_no, session_seq, idx) VALUES (99, 1, ${idxOf(2)})`,
  'the place of another thought': `UPDATE session_records SET idx = ${idxOf(4)} WHERE idx = ${idxOf(1)}`,
};

describe('an older ledger', () => {
  for (const [name, forgery] of Object.entries(FORGERIES))
    promiseTest('store/migrated', `a migration does not hide a forgery: ${name}`, () =>
      withFolder(async (folder) => {
        const path = join(folder, 'colibri.db');
        await buildFullLedger(path);
        await makeOlder(await openFile(path), forgery);
        const server = await openServer(path);
        try {
          const { problems } = await server.database.read((reader) => verifyEverything(reader));
          expect(problems).not.toEqual([]);
        } finally {
          await server.close();
        }
      }),
    );

  // Numbers that a JavaScript number does not hold, and more ranges between them than can be processed.
  for (const idx of ['9007199254740993', '9223372036854775807', '-9223372036854775807'])
    promiseTest('store/migrated', `a migration keeps a forged entry ${idx} for verification to report`, () =>
      withFolder(async (folder) => {
        const path = join(folder, 'colibri.db');
        await buildFullLedger(path);
        await makeOlder(
          await openFile(path),
          `INSERT INTO ledger_entries (idx, kind, entry) VALUES (${idx}, 'forged', '{}')`,
        );
        const database = await openFile(path);
        try {
          await migrate(database, () => Promise.reject(new Error('the ledger is not new')));
          const { problems } = await database.read((reader) => verifyEverything(reader));
          expect(problems.map(({ place }) => place)).toEqual(['ledger_entries']);
        } finally {
          await database.close();
        }
      }),
    );

  promiseTest('store/migrated', 'a ledger whose sessions list their thoughts', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      await buildFullLedger(path);
      await makeOlder(await openFile(path));
      const server = await openServer(path);
      try {
        expect(await server.database.schemaVersion()).toBe(SCHEMA_VERSION);
        await assertWhole(server.database);
        const listed = await server.query('SELECT 1 FROM session_events JOIN thoughts USING (idx)');
        expect(listed).toEqual([]);
        const input = { session_id: 'A-0001' };
        expect(await server.verifyChain(input)).toMatchObject({ chain_valid: true, integrity_score: 100 });
      } finally {
        await server.close();
      }
    }),
  );
});

describe('the migration of a ledger', () => {
  promiseTest(
    'store/migrated',
    'every entry and the root stay as they are, and an attempt that fails changes nothing',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'colibri.db');
        await buildFullLedger(path);
        const unclaimed = await openFile(path);
        await removeClaims(unclaimed);
        await unclaimed.close();
        const before = await readLog(path);
        await makeOlder(await openFile(path));
        const older = await openFile(path);
        const version = await older.schemaVersion();
        const migration = { isComplete: false };
        for (let statements = 0; !migration.isComplete; statements += 1) {
          const attempt = older.write({ durable: false }, async (transaction) => {
            await createTables(failingAfter(transaction, statements), version);
            migration.isComplete = true;
            throw new Error('interrupted');
          });
          await expect(attempt).rejects.toThrow('interrupted');
          expect(await older.schemaVersion()).toBe(version);
        }
        const reported: number[] = [];
        await openLedger(older, 'tester', AT, (done, total) => reported.push(done / total));
        expect(reported.at(-1)).toBe(1);
        expect(reported).toEqual(reported.toSorted((one, other) => one - other));
        await older.close();
        expect(await readLog(path)).toEqual(before);
      }),
  );
});

/** A transaction that is lost after so many statements. */
function failingAfter(transaction: Transaction, statements: number): Transaction {
  let left = statements;
  const count = () => {
    if (left === 0) throw new Error('interrupted');
    left -= 1;
  };
  return {
    ...transaction,
    run: async (script) => {
      count();
      await transaction.run(script);
    },
    query: async (sql, parameters) => {
      count();
      return transaction.query(sql, parameters);
    },
  };
}

async function readLog(path: string): Promise<unknown> {
  const database = await openFile(path);
  try {
    return await database.read(async (reader) => {
      const { root, problems } = await verifyEverything(reader);
      return { root, problems, entries: await reader.query('SELECT idx, entry FROM ledger_entries ORDER BY idx') };
    });
  } finally {
    await database.close();
  }
}

describe('a newer ledger', () => {
  promiseTest('store/untouched', 'a ledger that a newer program migrated while this one runs is refused', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      const server = await openServer(path, 'tester', { isTolerant: true });
      const newer = await openFile(path);
      try {
        await server.createTask({ title: 'before' });
        await newer.write({ durable: false }, (transaction) => transaction.setSchemaVersion(SCHEMA_VERSION + 1));
        const size = () => newer.read((reader) => reader.query('SELECT size FROM ledger_head'));
        const before = await size();
        expect(await server.refusal('task_create', { title: 'after' })).toMatchObject({
          message: expect.stringMatching(/newer Colibri .*update Colibri/),
        });
        expect(await size()).toEqual(before);
      } finally {
        await server.close();
        await newer.close();
      }
    }),
  );
});
