import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger } from '../support/sample-ledgers.ts';
import { tamperFile } from '../support/tamper.ts';
import { rewriteFile } from './forge/sqlite-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-header-'));
const [original, copy] = [join(folder, 'original.db'), join(folder, 'copy.db')];
await buildFullLedger(original);
await tamperFile(original, 'PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL');
afterAll(() => rmSync(folder, { recursive: true }));

const COLUMNS = 'INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)';

const SCHEMAS: Readonly<Record<string, string>> = {
  'a row of the schema twice': "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'tasks_by_project'",
  'a row of the schema without a name': `${COLUMNS} VALUES (NULL, NULL, NULL, NULL, 'CREATE TRIGGER x AFTER INSERT ON tasks BEGIN SELECT 1; END')`,
  'a text of the schema that is cut off': "UPDATE sqlite_schema SET sql = 'CREATE TABLE tasks (' WHERE name = 'tasks'",
  'a table that is strict about unknown types':
    "UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'counters'",
};

describe('a ledger file that SQLite refuses', () => {
  for (const [name, sql] of Object.entries(SCHEMAS))
    promiseTest('verify/tampering', name, () => expectTampered(() => tamperFile(copy, sql)));

  for (const [at, value] of [
    [18, 3],
    [19, 3],
    [20, 32],
    [21, 65],
    [47, 5],
  ] as const)
    promiseTest('verify/tampering', `byte ${at} of the file header is ${value}`, () =>
      expectTampered(() =>
        rewriteFile(copy, (bytes) => {
          bytes[at] = value;
          return bytes;
        }),
      ),
    );
});

async function expectTampered(tamper: () => unknown): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  copyFileSync(original, copy);
  await tamper();
  const { status, stdout } = await runColibri(['verify', '--json'], { COLIBRI_DB_PATH: copy }, folder);
  expect(status).toBe(1);
  const { verdict, problems } = JSON.parse(stdout);
  expect(verdict).toBe('tampered');
  expect(problems[0].place).toMatch(/^(?:file|file header|counters)$/);
}
