import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import type { SqlValue, Transaction } from '../../src/db/database.ts';
import { DIFFERS } from '../../src/db/schema/difference.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, openFile } from '../support/sample-ledgers.ts';
import { afterTampering, listColumns, PLACES } from '../support/tamper.ts';
import { assertWhole } from '../support/test-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-rows-'));
const path = join(folder, 'colibri.db');
await buildFullLedger(path);
const database = await openFile(path);
const columns = (await listColumns(database)).filter(({ table }) => !table.startsWith('task_search_'));
const tables = [...new Set(columns.map(({ table }) => table))];

afterAll(async () => {
  await assertWhole(database);
  await database.close();
  rmSync(folder, { recursive: true });
});

describe('whole rows', () => {
  for (const table of tables) {
    const names = columns.filter((column) => column.table === table);
    const keys = names.filter(({ isKey }) => isKey).map(({ column }) => column);
    const rest = names.filter(({ isKey }) => !isKey).map(({ column }) => column);

    promiseTest('verify/tampering', `${table}: the first, a middle or the last row deleted`, async () => {
      for (const row of [
        'MIN(rowid)',
        'MAX(rowid)',
        '(SELECT rowid FROM ~ LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM ~))',
      ])
        await expectFound(table, `DELETE FROM ~ WHERE rowid = (SELECT ${row} FROM ${requiredRows(table)})`);
    });

    promiseTest('verify/tampering', `${table}: all rows deleted`, () => expectFound(table, 'DELETE FROM ~'));

    promiseTest('verify/tampering', `${table}: a row stored twice`, async () => {
      // Under another key, since the schema lets no key in twice.
      const changed = keys.map((key, index) =>
        index === 0 ? `CASE typeof(${key}) WHEN 'text' THEN ${key} || 'x' ELSE ${key} + 1000003 END` : key,
      );
      await withoutConstraints(table, async (transaction) => {
        await transaction.run(
          `INSERT INTO ${table} (${[...keys, ...rest].join(', ')}) SELECT ${[...changed, ...rest].join(', ')} FROM ${table} LIMIT 1`,
        );
      });
    });

    // The times in presence are not evidence; its other column is changed by the tests of single values.
    if (rest.length > 0 && !['ledger_head', 'presence'].includes(table))
      promiseTest('verify/tampering', `${table}: two rows swapped`, async () => {
        await withoutConstraints(table, async (transaction) => {
          const rows = await transaction.query<Record<string, SqlValue>>(`SELECT rowid AS place, * FROM ${table}`);
          const [first] = rows;
          const last = rows.findLast((row) => rest.some((name) => row[name] !== first?.[name]));
          if (first === undefined || last === undefined) throw new Error(`${table} has no two rows`);
          for (const [place, source] of [
            [first['place'], last],
            [last['place'], first],
          ] as const) {
            const assignments = rest.map((name, index) => `${name} = $${index + 2}`).join(', ');
            await transaction.query(`UPDATE ${table} SET ${assignments} WHERE rowid = $1`, [
              place ?? null,
              ...rest.map((name) => source[name] ?? null),
            ]);
          }
        });
      });
  }
});

/** Only the newest row of each actor is required in presence. */
function requiredRows(table: string): string {
  return table === 'presence' ? '(SELECT MAX(rowid) AS rowid FROM ~ GROUP BY actor)' : '~';
}

async function expectFound(table: string, sql: string): Promise<void> {
  const problems = await afterTampering(database, (transaction) => transaction.run(sql.replaceAll('~', table)));
  expect(problems.map(({ place }) => place)).toContainEqual(expect.stringMatching(PLACES[table] ?? /^$/));
}

/** Unique indexes only guard against bugs. A forger drops them first, which the schema check reports. */
async function withoutConstraints(table: string, tamper: (transaction: Transaction) => Promise<void>): Promise<void> {
  const takeDown = async (transaction: Transaction) => {
    await transaction.run(`
      CREATE TABLE lax AS SELECT * FROM ${table}; DROP TABLE ${table};
      CREATE TABLE ${table} AS SELECT * FROM lax; DROP TABLE lax`);
    await tamper(transaction);
  };
  const reported = await afterTampering(database, takeDown, { alsoTrail: false });
  expect(reported.map(({ problem }) => problem)).toContainEqual(expect.stringMatching(new RegExp(`^${DIFFERS}`)));
  const problems = await afterTampering(database, takeDown, { pastSchema: true });
  const places = problems.map(({ place }) => place);
  expect(places).toContainEqual(expect.stringMatching(PLACES[table] ?? /^$/));
}
