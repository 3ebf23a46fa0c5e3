import { describe, expect } from 'vitest';
import { beforeEachStatement } from '../../src/db/before-each-statement.ts';
import type { Database, SqlValue, Transaction } from '../../src/db/database.ts';
import { createTables, SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { loadSqlite, type SqliteDriver } from '../../src/db/sqlite/driver.ts';
import { indexWords } from '../../src/domains/tasks/search.ts';
import { indexedWords } from '../../src/domains/tasks/tokenizer.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { AT } from '../support/ledger.ts';
import { newPostgresUrl, openTestPostgres } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';
import { OLD_LEDGERS, unpackLedger, versionOf } from '../upgrade/old-ledgers.ts';

/** Both engines store the same rows, so a stored SQLite ledger becomes one of the same schema on PostgreSQL. */
describe('a PostgreSQL ledger of an earlier version', () => {
  for (const [name, { size, root }] of Object.entries(OLD_LEDGERS)) {
    const version = versionOf(name);
    const expectUpgraded = async (database: Database, entries: unknown[]) => {
      await openLedger(database, 'the new version', AT);
      expect(await database.schemaVersion()).toBe(SCHEMA_VERSION);
      expect(await database.read((reader) => verifyEverything(reader))).toMatchObject({ size, root, problems: [] });
      expect(await readEntries(database)).toEqual(entries);
    };

    promiseTest('upgrade/kept', `on PostgreSQL, ${name} has the same entries and root, and verifies`, async () => {
      const url = await createOldLedger(name);
      const database = await openTestPostgres({ url });
      expect(await database.schemaVersion()).toBe(version);
      const entries = await readEntries(database);
      expect(entries).toHaveLength(size);
      await expectUpgraded(database, entries);
    });

    if (version < SCHEMA_VERSION)
      promiseTest('upgrade/killed', `on PostgreSQL, ${name}, while a statement of the migration runs`, async () => {
        const url = await createOldLedger(name);
        const entries = await readEntries(await openTestPostgres({ url }));
        const statements = await migrateUntilKilled(url, Number.POSITIVE_INFINITY);
        expect(statements).toBeGreaterThan(0);
        for (const at of sample([...Array(statements).keys()], 2, version)) await migrateUntilKilled(url, at);
        const database = await openTestPostgres({ url });
        expect(await database.schemaVersion()).toBe(version);
        await expectUpgraded(database, entries);
      });
  }
});

async function createOldLedger(name: string): Promise<string> {
  const url = await newPostgresUrl();
  const database = await openTestPostgres({ url });
  const file = (await loadSqlite()).open(unpackLedger(name), { readOnly: true });
  try {
    await database.write({ durable: false }, async (transaction) => {
      await createTables(transaction, 0, versionOf(name));
      for (const table of listTables(file)) copyRows(file, table, transaction);
      await transaction.setSchemaVersion(versionOf(name));
    });
  } finally {
    file.close();
  }
  return url;
}

/** Search is the one thing that the engines store in different tables. */
function listTables(file: SqliteDriver): string[] {
  const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'task\\_search%' ESCAPE '\\'";
  return rowsOf(file, sql).map(({ name }) => String(name));
}

function copyRows(file: SqliteDriver, table: string, transaction: Transaction): void {
  // A migration creates the row of the head.
  transaction.send(`DELETE FROM ${table}`);
  for (const row of rowsOf(file, `SELECT * FROM ${table}`)) {
    const columns = Object.keys(row);
    const places = columns.map((_, index) => `$${index + 1}`);
    transaction.send(`INSERT INTO ${table} (${columns.join()}) VALUES (${places.join()})`, Object.values(row));
    if (table === 'tasks')
      indexWords(transaction, Number(row['task_no']), indexedWords(String(row['title']), String(row['description'])));
  }
}

function rowsOf(file: SqliteDriver, sql: string): Record<string, SqlValue>[] {
  return file.prepare(sql).all([]) as Record<string, SqlValue>[];
}

/** The server ends the connection in place of one statement of the migration. Returns how many there are before it. */
async function migrateUntilKilled(url: string, at: number): Promise<number> {
  const database = await openTestPostgres({ url });
  const current = await database.schemaVersion();
  let statements = 0;
  const migration = database.write({ durable: false }, async (transaction) => {
    const before = async () => {
      if (statements === at) await transaction.query('SELECT pg_terminate_backend(pg_backend_pid())');
      statements += 1;
    };
    const counted: Transaction = {
      ...beforeEachStatement(transaction, before),
      send: (sql, parameters) => transaction.send(sql, parameters),
      sendAtCommit: (sql, parameters) => transaction.sendAtCommit(sql, parameters),
      run: async (script) => {
        await before();
        await transaction.run(script);
      },
      schemaVersion: () => transaction.schemaVersion(),
      setSchemaVersion: (version) => transaction.setSchemaVersion(version),
    };
    await createTables(counted, current);
    throw new Error('killed after the last statement');
  });
  await expect(migration).rejects.toThrow(
    at < Number.POSITIVE_INFINITY ? /terminat|lost|connection/i : /after the last/,
  );
  return statements;
}

function readEntries(database: Database): Promise<unknown[]> {
  return database.read((reader) => reader.query('SELECT idx, entry FROM ledger_entries ORDER BY idx'));
}
