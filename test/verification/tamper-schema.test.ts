import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { assertMigrated, SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { SchemaError } from '../../src/db/schema/difference.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { openTestDatabase } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, createFileOfVersion } from '../support/sample-ledgers.ts';
import { tamperFile } from '../support/tamper.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-schema-'));
const [original, copy] = [join(folder, 'original.db'), join(folder, 'copy.db')];
await buildFullLedger(original);
afterAll(() => rmSync(folder, { recursive: true }));

/** Changes the schema text like a forger with a hex editor; the rows stay. */
function rewrite(name: string, from: string, to: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return `UPDATE sqlite_schema SET sql = replace(sql, ${quote(from)}, ${quote(to)}) WHERE name = '${name}'`;
}

/** Rebuilds the table with a nearly identical definition, so that it may hold rows that the old one refused. */
function rebuild(table: string, from: string, to: string, forgery: string): string {
  const keepText = `CREATE TABLE text AS SELECT sql FROM sqlite_schema WHERE name = '${table}'`;
  return `${keepText}; CREATE TABLE lax AS SELECT * FROM ${table}; DROP TABLE ${table};
    CREATE TABLE ${table} AS SELECT * FROM lax; DROP TABLE lax; ${forgery};
    UPDATE sqlite_schema SET sql = replace((SELECT sql FROM text), '${from}', '${to}') WHERE name = '${table}'; DROP TABLE text`;
}

const ENDLESS = 'WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n FROM forever) SELECT n';
const NO_BREAK_SPACE = '\u00a0';

/** What was done, and the object that must be named for it. */
const CHANGES: Readonly<Record<string, readonly [sql: string, place: string]>> = {
  'a forged call before the real one, under a key that is none': [
    rebuild(
      'call_exits',
      'INTEGER PRIMARY',
      `INTEGER${NO_BREAK_SPACE}PRIMARY`,
      'INSERT INTO call_exits SELECT * FROM call_exits LIMIT 1',
    ),
    'call_exits',
  ],
  'two entries that swapped their places, under a key that is none': [
    rebuild(
      'ledger_entries',
      'INTEGER PRIMARY',
      `INTEGER${NO_BREAK_SPACE}PRIMARY`,
      'UPDATE ledger_entries SET idx = 11 - idx WHERE idx IN (5, 6)',
    ),
    'ledger_entries',
  ],
  'a blank more in a text': [rewrite('actions', 'FROM calls', 'FROM  calls'), 'actions'],
  'a line break less in a text': [rewrite('task_waits', '\nUNION', ' UNION'), 'task_waits'],
  'a text in capitals': ["UPDATE sqlite_schema SET sql = upper(sql) WHERE name = 'tasks_blocked'", 'tasks_blocked'],
  'a comment in a text': [rewrite('counters', 'BIGINT NOT NULL', 'BIGINT NOT NULL -- counted'), 'counters'],
  'a text that continues after a NUL': [
    "UPDATE sqlite_schema SET sql = sql || char(0) || ' more' WHERE name = 'tasks_ready'",
    'tasks_ready',
  ],
  'a text that is stored as bytes': [
    "UPDATE sqlite_schema SET sql = CAST(sql AS BLOB) WHERE name = 'tasks_by_project'",
    'tasks_by_project',
  ],
  'a text with bytes that are no UTF-8': [
    "UPDATE sqlite_schema SET sql = CAST(CAST(sql AS BLOB) || X'202d2dff' AS TEXT) WHERE name = 'task_waits'",
    'task_waits',
  ],
  'a column without NOT NULL': [rewrite('thoughts', 'hash           TEXT NOT NULL', 'hash           TEXT'), 'thoughts'],
  'a column with a DEFAULT': [
    rewrite('tasks', 'assignee       TEXT NOT NULL', "assignee       TEXT NOT NULL DEFAULT 'mallory'"),
    'tasks',
  ],
  'a column in another order of letters': [
    rewrite('tasks', 'project        TEXT', 'project        TEXT COLLATE NOCASE'),
    'tasks',
  ],
  'a column of another type': [rewrite('sessions', 'leaf_count    BIGINT', 'leaf_count    TEXT'), 'sessions'],
  'a CHECK less': [rewrite('ledger_head', ' CHECK (id = 1)', ''), 'ledger_head'],
  'a CHECK more': [rewrite('counters', 'BIGINT NOT NULL', 'BIGINT NOT NULL CHECK (value < 3)'), 'counters'],
  'a strict table': [
    `${rewrite('counters', 'BIGINT', 'INTEGER')}; ${rewrite('counters', '\n)', '\n) STRICT')}`,
    'counters',
  ],
  'a foreign key that deletes': [
    rewrite(
      'task_labels',
      'task_no BIGINT NOT NULL',
      'task_no BIGINT NOT NULL REFERENCES tasks (task_no) ON DELETE CASCADE',
    ),
    'task_labels',
  ],
  'an index that is not unique any more': [
    'DROP INDEX thoughts_first; CREATE INDEX thoughts_first ON thoughts (task_no) WHERE previous_hash IS NULL',
    'thoughts_first',
  ],
  'an index on another column': [
    'DROP INDEX tasks_by_update; CREATE INDEX tasks_by_update ON tasks (created_at, task_no)',
    'tasks_by_update',
  ],
  'an index over other rows': [
    'DROP INDEX tasks_blocked; CREATE INDEX tasks_blocked ON tasks (project, priority DESC, task_no) WHERE blocked_reason IS NULL',
    'tasks_blocked',
  ],
  'an index in another order': [
    'DROP INDEX tasks_ready; CREATE INDEX tasks_ready ON tasks (project, priority, task_no) WHERE is_ready = 1',
    'tasks_ready',
  ],
  'an index less': ['DROP INDEX sessions_live', 'sessions_live'],
  'an index more': ['CREATE INDEX more ON call_exits (exit_idx)', 'more'],
  'a table more': ['CREATE TABLE more (x)', 'more'],
  'a view more': ['CREATE VIEW more AS SELECT 1', 'more'],
  'a virtual table more': ['CREATE VIRTUAL TABLE more USING fts5 (x)', 'more'],
  'an index on an expression that takes hours': [
    `CREATE TABLE more (x); CREATE INDEX more_x ON more (x);
     INSERT INTO more WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n;
     ${rewrite('more_x', '(x)', "(length(replace(hex(zeroblob(40000000 + x)), '0', 'ab')))")}`,
    'more_x',
  ],
  'a table with a CHECK that takes hours': [
    `CREATE TABLE more (x); INSERT INTO more WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n;
     ${rewrite('more', '(x)', "(x CHECK (length(replace(hex(zeroblob(40000000)), '0', 'ab')) > 0))")}`,
    'more',
  ],
  'an index on an expression that fails': [
    `CREATE TABLE more (x); CREATE INDEX more_x ON more (x); INSERT INTO more VALUES (1);
     UPDATE tasks SET title = 'forged'; ${rewrite('more_x', '(x)', '(abs(-9223372036854775807 - x))')}`,
    'more_x',
  ],
  'statistics for the planner': ['ANALYZE', 'sqlite_stat1'],
  'a table that counts': ['CREATE TABLE more (x INTEGER PRIMARY KEY AUTOINCREMENT)', 'sqlite_sequence'],
  'a trigger': ['CREATE TRIGGER undo AFTER INSERT ON thoughts BEGIN DELETE FROM thoughts; END', 'undo'],
  'a trigger over an endless view': [
    `CREATE VIEW endless AS ${ENDLESS} FROM forever; CREATE TRIGGER undo AFTER INSERT ON ledger_entries BEGIN SELECT count(*) FROM endless; END`,
    'undo',
  ],
  'a view that leaves something out': [rewrite('actions', 'FROM calls', "FROM calls WHERE actor <> 'me'"), 'actions'],
  'an endless view instead of a table': [
    `ALTER TABLE counters RENAME TO hidden; CREATE VIEW counters AS ${ENDLESS} AS name, n AS value FROM forever`,
    'counters',
  ],
  'an endless view with the name of a pragma': [
    `CREATE VIEW pragma_user_version AS ${ENDLESS} AS user_version FROM forever`,
    'pragma_user_version',
  ],
  'a table with the name of a function': ['CREATE TABLE json_each (value)', 'json_each'],
  'a computed column': [
    rewrite('counters', 'value BIGINT NOT NULL', 'value BIGINT NOT NULL, more AS (length(zeroblob(value)))'),
    'counters',
  ],
  'a search index over another table': [rewrite('task_search', "content = ''", "content = 'tasks'"), 'task_search'],
  'a search index that cuts words in another way': [rewrite('task_search', "'ascii'", "'unicode61'"), 'task_search'],
  'an inner table of the search index with another text': [
    rewrite('task_search_docsize', 'origin INTEGER', 'origin INTEGER DEFAULT 7'),
    'task_search_docsize',
  ],
  'an inner table of the search index that keeps nothing unique': [
    rewrite('task_search_data', 'id INTEGER PRIMARY KEY', 'id INTEGER'),
    'task_search_data',
  ],
  ...Object.fromEntries(
    ['config', 'data', 'docsize', 'idx'].map((name) => [
      `no ${name} table of the search index`,
      [`DROP TABLE task_search_${name}`, `task_search_${name}`],
    ]),
  ),
  'a table that has the pages of another': [
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'task_labels') WHERE name = 'task_dependencies'",
    'task_dependencies',
  ],
  'a version that is older': ['PRAGMA user_version = 3', 'user_version'],
  'no version': ['PRAGMA user_version = 0', 'user_version'],
  'a version that is newer, over the tables of this one': ['PRAGMA user_version = 99', 'user_version'],
  'an unfinished copy of another version': ['PRAGMA user_version = -3', 'user_version'],
  'the mark of another program': ['PRAGMA application_id = 7', 'application_id'],
  'no mark': ['PRAGMA application_id = 0', 'application_id'],
};

const MALFORMED: Readonly<Record<string, string>> = {
  'an index that has the pages of another':
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'tasks_by_project') WHERE name = 'tasks_by_update'",
  'a view that has pages': "UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'actions'",
  'an index that claims another table':
    "UPDATE sqlite_schema SET tbl_name = 'thoughts' WHERE name = 'tasks_by_project'",
  'a table under two names': "UPDATE sqlite_schema SET name = 'other' WHERE name = 'counters'",
  'a table that claims to be an index': "UPDATE sqlite_schema SET type = 'index' WHERE name = 'counters'",
};

describe('the schema of an SQLite ledger', () => {
  for (const [name, [sql, place]] of Object.entries(CHANGES))
    promiseTest('store/schema', `on SQLite, ${name}`, async () => {
      await forge(sql);
      const database = await openDatabase({ ...READ_ONLY, acceptsAnySchema: true });
      onTestFinished(() => database.close());
      const { problems } = await database.read((reader) => verifyEverything(reader));
      expect(problems.map((problem) => problem.place)).toContain(place);
      const reason = REASONS[place] ?? new RegExp(`another program changed this ledger:.*${place} differs`);
      for (const readOnly of [true, false])
        await expect(openDatabase({ ...READ_ONLY, readOnly }).then(assertUsable)).rejects.toThrow(reason);
    });

  for (const [name, sql] of Object.entries(MALFORMED))
    promiseTest('store/fault-named', `SQLite itself refuses ${name}`, async () => {
      await forge(sql);
      for (const acceptsAnySchema of [true, false])
        await expect(openDatabase({ ...READ_ONLY, acceptsAnySchema })).rejects.toThrow(/damaged/);
    });

  promiseTest('store/schema-reference', 'opens an honest ledger of every version', async () => {
    for (let version = 1; version <= SCHEMA_VERSION; version += 1) {
      rmSync(copy, { force: true });
      await createFileOfVersion(copy, version);
      await (await openDatabase(READ_ONLY)).close();
    }
  });

  promiseTest('store/schema', 'on SQLite, a ledger of an older version, before it is migrated', async () => {
    rmSync(copy, { force: true });
    await createFileOfVersion(copy, 4);
    await tamperFile(copy, 'CREATE TRIGGER undo AFTER DELETE ON session_records BEGIN DELETE FROM calls; END');
    await expect(openDatabase({ ...READ_ONLY, readOnly: false })).rejects.toThrow(SchemaError);
    const database = await openTestDatabase({ path: copy, readOnly: true });
    expect(await database.schemaVersion()).toBe(4);
  });

  promiseTest('store/schema', 'on SQLite, a file in another encoding', async () => {
    rmSync(copy, { force: true });
    await tamperFile(copy, "PRAGMA encoding = 'UTF-16'; CREATE TABLE first (x); DROP TABLE first");
    await createFileOfVersion(copy, SCHEMA_VERSION);
    await expect(openDatabase(READ_ONLY)).rejects.toThrow(/encoding differs from the schema: it is UTF-16/);
  });
});

const READ_ONLY = { mode: 'FULL', dbPath: copy, durability: 'relaxed', readOnly: true } as const;

/** Refusals that were there before: a mark of another program, a version that is newer. */
const REASONS: Readonly<Record<string, RegExp>> = {
  application_id: /another program/,
  user_version: /user_version differs|newer Colibri/,
};

async function forge(sql: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  cpSync(original, copy);
  await tamperFile(copy, sql);
}

/** What a caller does first with a ledger that was opened. */
async function assertUsable(database: Database): Promise<void> {
  try {
    await assertMigrated(database);
  } finally {
    await database.close();
  }
}
