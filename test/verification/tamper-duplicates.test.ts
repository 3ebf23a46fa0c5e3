import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, openFile, TWO_LEVELS } from '../support/sample-ledgers.ts';
import { afterTampering, listColumns, PLACES } from '../support/tamper.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-twice-'));
const path = join(folder, 'colibri.db');
await buildFullLedger(path, TWO_LEVELS);
const database = await openFile(path);
const columns = await listColumns(database);
const tables = new Set(columns.map(({ table }) => table).filter((table) => !table.startsWith('task_search_')));

afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

describe('a table without its key', () => {
  for (const table of tables)
    promiseTest('verify/tampering', `an exact copy of the first or the last row of ${table}`, async () => {
      for (const order of ['rowid', 'rowid DESC']) {
        const places = await placesIn(table, async (transaction) => {
          await transaction.run(`INSERT INTO ${table} SELECT * FROM ${table} ORDER BY ${order} LIMIT 1`);
        });
        expect(places, order).toContainEqual(expect.stringMatching(PLACES[table] ?? /^$/));
      }
    });

  promiseTest('verify/tampering', 'two entries that swapped their indexes', async () => {
    const places = await placesIn('ledger_entries', (transaction) =>
      transaction.run('UPDATE ledger_entries SET idx = 201 - idx WHERE idx IN (100, 101)'),
    );
    expect(places).toContainEqual(expect.stringMatching(/^(?:entry|node|call|task event) /));
  });
});

/** Where verification finds something else than the missing key itself. */
async function placesIn(table: string, tamper: (transaction: Transaction) => Promise<void>): Promise<string[]> {
  const keyless = async (transaction: Transaction) => {
    await transaction.run(`
      CREATE TABLE lax AS SELECT * FROM ${table}; DROP TABLE ${table};
      CREATE TABLE ${table} AS SELECT * FROM lax; DROP TABLE lax`);
  };
  const before = await afterTampering(database, keyless, { pastSchema: true });
  const forge = async (transaction: Transaction) => {
    await keyless(transaction);
    await tamper(transaction);
  };
  const after = await afterTampering(database, forge, { pastSchema: true });
  const known = new Set(before.map(({ place, problem }) => `${place} ${problem}`));
  return after.filter(({ place, problem }) => !known.has(`${place} ${problem}`)).map(({ place }) => place);
}
