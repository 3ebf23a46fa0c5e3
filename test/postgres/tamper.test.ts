import { afterAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';
import { buildFullLedger, openFile } from '../support/sample-ledgers.ts';
import { afterTampering, PLACES } from '../support/tamper.ts';
import { assertWhole } from '../support/test-server.ts';

await buildFullLedger('tampered');
const database = await openFile('tampered');
const columns = await listColumns(database);
const tables = [...new Set(columns.map(({ table }) => table))];

afterAll(async () => {
  await assertWhole(database);
  await database.close();
});

const PLACES_HERE: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(Object.entries(PLACES).filter(([table]) => !table.startsWith('task_search'))),
  colibri: /^colibri$/,
  task_search: /^task_search$/,
};

/** A value that differs. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  text: ["COALESCE(~, '') || 'x'", "'0' || substr(~, 2)", 'upper(~)', "CASE WHEN ~ IS NULL THEN 'x' END"],
  number: ['COALESCE(~, 0) + 1', '~ + 1000003', 'CASE WHEN ~ IS NULL THEN 7 END'],
};

describe('one changed value', () => {
  it('every table is covered', () => {
    expect(tables.toSorted()).toEqual(Object.keys(PLACES_HERE).toSorted());
  });

  for (const [turn, { table, column, kind }] of columns.entries())
    promiseTest('verify/tampering', `on PostgreSQL, ${table}.${column}`, async () => {
      let tried = 0;
      const rows = await sampleRows(table, column);
      // The time of a sign of life is not evidence, as docs/trust.md says; a row without one is found.
      const changes = (CHANGES[kind] ?? []).filter((change) => column !== 'clock_ms' || !change.includes('+'));
      for (const [index, change] of sample(changes, 1, turn).entries()) {
        // Several places for the first change, one place for the others: each look at the whole record takes its time.
        for (const place of index === 0 ? sample(rows, 2, turn) : rows.slice(0, 1)) {
          const expression = change.replaceAll('~', column);
          const sql = `UPDATE ${table} SET ${column} = ${expression}
                       WHERE ctid = '${place}' AND ${column} IS DISTINCT FROM (${expression}) RETURNING 1`;
          tried += 1;
          const places = await placesAfter(sql).catch(unlessImpossible);
          if (places === undefined) continue;
          expect(places, `${change} at ${place}`).toContainEqual(expect.stringMatching(PLACES_HERE[table] ?? /^$/));
        }
      }
      expect(tried).toBeGreaterThan(0);
    });
});

describe('whole rows', () => {
  for (const table of tables) {
    promiseTest('verify/tampering', `on PostgreSQL, the first or the last row of ${table} deleted`, async () => {
      for (const end of ['MIN', 'MAX']) await expectFound(table, deletionAt(table, end));
    });

    promiseTest('verify/tampering', `on PostgreSQL, all rows of ${table} deleted`, () =>
      expectFound(table, 'DELETE FROM ~'),
    );
  }
});

/** Only the newest row of each actor is required in presence. */
function deletionAt(table: string, end: string): string {
  if (table !== 'presence') return `DELETE FROM ~ WHERE ctid = (SELECT ${end}(ctid) FROM ~)`;
  const newest = 'SELECT MAX(sequence_no) AS sequence_no FROM ~ GROUP BY actor';
  return `DELETE FROM ~ WHERE sequence_no = (SELECT ${end}(sequence_no) FROM (${newest}) AS newest)`;
}

describe('the schema', () => {
  for (const [name, script, place] of [
    [
      'a trigger',
      'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$; CREATE TRIGGER quiet BEFORE INSERT ON call_exits FOR EACH ROW EXECUTE FUNCTION f()',
      'quiet',
    ],
    ['a rule', 'CREATE RULE deaf AS ON INSERT TO call_exits DO INSTEAD NOTHING', 'deaf'],
    ['row security', 'ALTER TABLE call_exits ENABLE ROW LEVEL SECURITY', 'call_exits (row security)'],
    [
      'a view that leaves something out',
      "CREATE OR REPLACE VIEW actions AS SELECT sequence_no, tool, actor, entered_at, exited_at, COALESCE(outcome, 'running') AS outcome, duration_ms, arguments, answer AS result_digest FROM calls WHERE actor <> 'me'",
      'actions',
    ],
    ['a view more', 'CREATE VIEW more AS SELECT 1 AS one', 'more'],
    ['a view less', 'DROP VIEW actions', 'actions'],
    ['a table more', 'CREATE TABLE more (id BIGINT)', 'more'],
    ['a column more', 'ALTER TABLE ledger_nodes ADD COLUMN more TEXT', 'ledger_nodes'],
    [
      'an index that is no longer unique',
      'DROP INDEX sessions_live; CREATE INDEX sessions_live ON sessions (task_no) WHERE finalized_idx IS NULL',
      'sessions_live',
    ],
    ['an index less', 'DROP INDEX tasks_ready', 'tasks_ready'],
  ] as const)
    promiseTest('verify/tampering', `on PostgreSQL, ${name}`, async () => {
      expect(await placesAfter(script)).toContain(place);
    });
});

async function placesAfter(script: string): Promise<string[]> {
  const problems = await afterTampering(database, async (transaction) => {
    if (!script.endsWith('RETURNING 1')) return transaction.run(script);
    if ((await transaction.query(script)).length === 0) throw new NoChange();
  });
  return problems.map(({ place }) => place);
}

async function expectFound(table: string, sql: string): Promise<void> {
  const places = await placesAfter(sql.replaceAll('~', table));
  expect(places).toContainEqual(expect.stringMatching(PLACES_HERE[table] ?? /^$/));
}

class NoChange extends Error {}

/** The schema forbids some edits, and an edit to the same value is not a change. */
function unlessImpossible(error: unknown): undefined {
  if (error instanceof NoChange) return undefined;
  if (error instanceof Error && /violates|out of range/.test(error.message)) return undefined;
  throw error;
}

/** Both ends of the table, with a value in the column and without. */
async function sampleRows(table: string, column: string): Promise<string[]> {
  const rows = await database.read((reader) =>
    reader.query<{ first: string; last: string }>(
      `SELECT MIN(ctid) AS first, MAX(ctid) AS last FROM ${table} GROUP BY ${column} IS NULL`,
    ),
  );
  return [...new Set(rows.flatMap(({ first, last }) => [first, last]))];
}

interface Column {
  readonly table: string;
  readonly column: string;
  readonly kind: string;
}

/** Every column of every table, read from the catalog, so that a new one is tested too. */
function listColumns(ledger: Database): Promise<Column[]> {
  return ledger.read((reader) =>
    reader.query<Column>(
      `SELECT relname AS "table", attname AS "column", CASE typcategory WHEN 'N' THEN 'number' ELSE 'text' END AS kind
       FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND attgenerated = ''
       JOIN pg_type ON pg_type.oid = atttypid
       WHERE relkind = 'r' AND relnamespace = to_regnamespace(quote_ident(current_schema())) ORDER BY relname, attnum`,
    ),
  );
}
