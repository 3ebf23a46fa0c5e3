import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Database, Transaction } from '../../src/db/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { partOf } from '../support/properties.ts';
import { buildFullLedger, openFile, TWO_LEVELS } from '../support/sample-ledgers.ts';
import { afterTampering, type Column, listColumns, PLACES } from '../support/tamper.ts';
import { assertWhole } from '../support/test-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-tamper-'));
const short = await openLedger('short.db');
const long = await openLedger('long.db', TWO_LEVELS);
const columns = await listColumns(short);

async function openLedger(name: string, size?: typeof TWO_LEVELS): Promise<Database> {
  await buildFullLedger(join(folder, name), size);
  return openFile(join(folder, name));
}

afterAll(async () => {
  for (const database of [short, long]) {
    await assertWhole(database);
    await database.close();
  }
  rmSync(folder, { recursive: true });
});

/** A value that differs, of the same kind and of another. */
const CHANGES: Readonly<Record<string, string>> = {
  'a little':
    "CASE typeof(~) WHEN 'text' THEN ~ || 'x' WHEN 'blob' THEN zeroblob(length(~) + 1) WHEN 'null' THEN 1 ELSE ~ + 1 END",
  'to another number': "CASE WHEN typeof(~) IN ('integer', 'real') THEN ~ + 1000003 ELSE ~ END",
  'in one digit':
    "CASE WHEN typeof(~) = 'text' AND substr(~, 1, 1) = '0' THEN '1' || substr(~, 2) WHEN typeof(~) = 'text' THEN '0' || substr(~, 2) ELSE ~ END",
  'to nothing': "CASE WHEN ~ IS NULL THEN 'x' ELSE NULL END",
  'to bytes': "CASE typeof(~) WHEN 'text' THEN CAST(~ AS BLOB) ELSE ~ END",
};

/** The time of a sign of life, as docs/trust.md says; a value that is not a time is found. */
const NOT_EVIDENCE: Readonly<Record<string, readonly string[]>> = {
  clock_id: ['in one digit'],
  clock_ms: ['a little', 'to another number'],
};

describe('one changed value', () => {
  it('changes a value in every table', () => {
    expect([...new Set(columns.map(({ table }) => table))]).toEqual(Object.keys(PLACES).toSorted());
  });

  // The inner tables of the search index have a file of tests of their own.
  for (const column of columns.filter(({ table }) => !table.startsWith('task_search_'))) {
    const place = PLACES[column.table] ?? /^$/;
    const database = column.table === 'ledger_nodes' ? long : short;
    promiseTest('verify/tampering', `a change in ${column.table}.${column.column}`, async () => {
      let tried = 0;
      for (const [turn, [change, expression]] of Object.entries(CHANGES).entries()) {
        if (NOT_EVIDENCE[column.column]?.includes(change)) continue;
        for (const key of await sampleRows(database, column, turn)) {
          const outcome = await afterTampering(database, (transaction) =>
            alter(transaction, column, key, expression.replaceAll('~', `"${column.column}"`)),
          ).catch(unlessForbidden);
          if (outcome === undefined) continue;
          tried += 1;
          expect(
            outcome.map(({ place }) => place),
            `${change}, row ${key}`,
          ).toContainEqual(expect.stringMatching(place));
        }
      }
      expect(tried).toBeGreaterThan(0);
    });
  }
});

/** The schema forbids some edits, and an edit to the same value is not a change. */
class NoChange extends Error {}

function unlessForbidden(error: unknown): undefined {
  if (error instanceof NoChange) return undefined;
  if (error instanceof Error && /constraint failed|datatype mismatch/.test(error.message)) return undefined;
  throw error;
}

/** For each kind of value in the column, the first row or the last, by turns; both in `npm run torture`. */
async function sampleRows(database: Database, { table, column }: Column, turn: number): Promise<number[]> {
  const rows = await database.read((reader) =>
    reader.query<{ first: number; last: number }>(
      `SELECT MIN(rowid) AS first, MAX(rowid) AS last FROM "${table}" GROUP BY typeof("${column}")`,
    ),
  );
  return [...new Set(rows.flatMap(({ first, last }) => partOf([first, last], turn)))];
}

async function alter(transaction: Transaction, { table, column }: Column, key: number, expression: string) {
  const changed = await transaction.query(
    `UPDATE "${table}" SET "${column}" = ${expression}
     WHERE rowid = ${key} AND "${column}" IS NOT (${expression}) RETURNING 1`,
  );
  if (changed.length === 0) throw new NoChange();
}
