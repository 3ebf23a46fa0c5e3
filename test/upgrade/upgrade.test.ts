import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Database, Transaction } from '../../src/db/database.ts';
import { createTables, SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { openLedger, openLedgerReadOnly } from '../../src/ledger/open.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { tempFolder } from '../support/folders.ts';
import { AT, tamper } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';
import { OLD_LEDGERS, unpackLedger, versionOf } from './old-ledgers.ts';

const NAMES = Object.keys(OLD_LEDGERS);
/** The first schema with which tasks and thoughts were stored. */
const FIRST = 4;

function open(path: string, readOnly = false): Promise<Database> {
  return openDatabase({ mode: 'FULL', dbPath: path, durability: 'relaxed', readOnly });
}

describe('a ledger of an earlier version', () => {
  promiseTest('upgrade/kept', 'there is one of each schema', () => {
    const versions = new Set(NAMES.map(versionOf).filter((version) => version < SCHEMA_VERSION));
    expect([...versions]).toEqual(Array.from({ length: SCHEMA_VERSION - FIRST }, (_, index) => FIRST + index));
  });

  for (const name of NAMES) {
    promiseTest('upgrade/kept', `${name} has the same entries and root, and verifies`, async () => {
      const path = unpackLedger(name);
      const before = await readEntries(path);
      const database = await open(path);
      await openLedger(database, 'the new version', AT);
      expect(await database.schemaVersion()).toBe(SCHEMA_VERSION);
      const { size, root, problems } = await database.read((reader) => verifyEverything(reader));
      await database.close();
      expect({ size, root, problems }).toEqual({ ...OLD_LEDGERS[name], problems: [] });
      expect(await readEntries(path)).toEqual(before);
    });

    if (versionOf(name) < SCHEMA_VERSION)
      promiseTest('upgrade/killed', `${name}, at each statement of the migration`, async () => {
        const images = await imagesOfMigration(unpackLedger(name));
        expect(images.length).toBeGreaterThan(0);
        for (const image of sample(images, 2, versionOf(name))) {
          const database = await open(image);
          expect(await database.schemaVersion()).toBe(versionOf(name));
          await openLedger(database, 'the next server', AT);
          const { size, root, problems } = await database.read((reader) => verifyEverything(reader));
          await database.close();
          expect({ size, root, problems }).toEqual({ ...OLD_LEDGERS[name], problems: [] });
        }
      });
  }
});

describe('a ledger of a later version', () => {
  promiseTest('upgrade/later', 'neither a reader nor a writer changes a byte', async () => {
    const path = unpackLedger(NAMES.at(-1) ?? '');
    const database = await open(path);
    await openLedger(database, 'the new version', AT);
    await database.close();
    await tamper(path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}; PRAGMA journal_mode = DELETE`);
    const folder = join(path, '..');
    const state = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]);
    const before = state();
    await expect(open(path)).rejects.toThrow(/newer Colibri.*update Colibri/);
    const reader = await open(path, true);
    await expect(openLedgerReadOnly(reader)).rejects.toThrow(/newer Colibri.*update Colibri/);
    await reader.close();
    expect(state()).toEqual(before);
  });
});

async function readEntries(path: string): Promise<unknown[]> {
  const database = await open(path);
  const rows = await database.read((reader) => reader.query('SELECT idx, entry FROM ledger_entries ORDER BY idx'));
  await database.close();
  return rows;
}

/** The files as a process leaves them that is killed before each statement of the migration. */
async function imagesOfMigration(path: string): Promise<string[]> {
  const database = await open(path);
  const current = await database.schemaVersion();
  const images: string[] = [];
  const migration = database.write({ durable: false }, async (transaction) => {
    // Pages of the transaction go to the log before it ends, where only the missing commit tells that they do not
    // count.
    await transaction.run('PRAGMA cache_size = 1; PRAGMA cache_spill = 1');
    await createTables(withImages(transaction, path, images), current);
    throw new Error('killed');
  });
  await expect(migration).rejects.toThrow('killed');
  await database.close();
  return images;
}

function withImages(transaction: Transaction, path: string, images: string[]): Transaction {
  const copy = () => {
    const folder = join(tempFolder(), '.colibri');
    mkdirSync(folder, { mode: 0o700 });
    const image = join(folder, 'colibri.db');
    for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) copyFileSync(path + suffix, image + suffix);
    images.push(image);
  };
  return {
    ...transaction,
    run: async (script) => {
      copy();
      await transaction.run(script);
    },
    query: async (sql, parameters) => {
      copy();
      return transaction.query(sql, parameters);
    },
  };
}
