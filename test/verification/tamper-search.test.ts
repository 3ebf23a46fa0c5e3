import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newTask } from '../../src/domains/tasks/change.ts';
import { insertTask } from '../../src/domains/tasks/repository.ts';
import { formatTaskId } from '../../src/ids.ts';
import { nextNumber } from '../../src/ledger/counters.ts';
import type { Problem } from '../../src/verification/report.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, openFile } from '../support/sample-ledgers.ts';
import { listColumns, tamperFile } from '../support/tamper.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-search-'));
const original = join(folder, 'original.db');
await buildFullLedger(original);
await addManyWords(original);

afterAll(() => rmSync(folder, { recursive: true }));

/** Each column of the index's own tables, with the rows that check-search-sqlite.ts explains left out. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  'task_search_config.k': ["UPDATE task_search_config SET k = 'pgsz'"],
  'task_search_config.v': ['UPDATE task_search_config SET v = v + 1'],
  'task_search_data.block': [
    'UPDATE task_search_data SET block = zeroblob(length(block)) WHERE id <> 1',
    'UPDATE task_search_data SET block = substr(block, 1, length(block) / 2) WHERE id > 10',
    "UPDATE task_search_data SET block = x'00000000' WHERE id = 10",
  ],
  'task_search_data.id': ['UPDATE task_search_data SET id = id + 1000003 WHERE id > 1'],
  'task_search_docsize.id': ['UPDATE task_search_docsize SET id = id + 1000003 WHERE id = 1'],
  'task_search_docsize.origin': [
    'UPDATE task_search_docsize SET origin = origin + 1000 WHERE id = 1',
    'UPDATE task_search_docsize SET origin = (SELECT MAX(origin) FROM task_search_docsize) WHERE id = 1',
    'UPDATE task_search_docsize SET origin = 1000 WHERE id = 300',
    'UPDATE task_search_docsize SET origin = 1 WHERE id = 300',
    'UPDATE task_search_docsize SET origin = 0 WHERE id = 2',
    'UPDATE task_search_docsize SET origin = -origin WHERE id = 2',
    'UPDATE task_search_docsize SET origin = NULL WHERE id = 2',
    "UPDATE task_search_docsize SET origin = 'x' WHERE id = 2",
    'UPDATE task_search_docsize SET origin = origin + 0.5 WHERE id = 2',
  ],
  'task_search_docsize.sz': ["UPDATE task_search_docsize SET sz = x'7f' WHERE id = 1"],
  'task_search_idx.pgno': ['UPDATE task_search_idx SET pgno = pgno + 1000'],
  'task_search_idx.segid': ['UPDATE task_search_idx SET segid = segid + 1000'],
  'task_search_idx.term': ["UPDATE task_search_idx SET term = 'zzzz' || term"],
};

const FORGERIES: Readonly<Record<string, string>> = {
  'a task that is not there': "INSERT INTO task_search (rowid, words) VALUES (99, 'ghost')",
  'a task that is not found': 'DELETE FROM task_search WHERE rowid = 1',
  'a word of another task':
    "DELETE FROM task_search WHERE rowid = 4; INSERT INTO task_search (rowid, words) VALUES (4, 'strict for a license')",
  'words in another order':
    "DELETE FROM task_search WHERE rowid = 4; INSERT INTO task_search (rowid, words) VALUES (4, 'for wait a license')",
  'a word twice':
    "DELETE FROM task_search WHERE rowid = 4; INSERT INTO task_search (rowid, words) VALUES (4, 'wait for a a license')",
  'a lost block': 'DELETE FROM task_search_data WHERE id > 10',
  'a lost size': 'DELETE FROM task_search_docsize WHERE id = 2',
  'a lost way to the words': 'DELETE FROM task_search_idx',
  'no averages': 'DELETE FROM task_search_data WHERE id = 1',
  'averages that are empty': "UPDATE task_search_data SET block = x'' WHERE id = 1",
  'averages of zero': "UPDATE task_search_data SET block = x'0000' WHERE id = 1",
  'averages that are cut off': "UPDATE task_search_data SET block = x'ff' WHERE id = 1",
  'averages beyond all numbers': "UPDATE task_search_data SET block = x'ffffffffffffffffff01' WHERE id = 1",
  'averages of a column that there is not': "UPDATE task_search_data SET block = block || x'01' WHERE id = 1",
  'terms of a segment to come': "INSERT INTO task_search_idx VALUES (1999, x'30', 2)",
  'terms of every segment to come':
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT OR IGNORE INTO task_search_idx SELECT i, x'', 2 FROM n",
  'a term on a page that its segment lacks':
    "INSERT INTO task_search_idx SELECT segid, x'30ff', 2000 FROM task_search_idx LIMIT 1",
  'a block of a segment to come': "INSERT INTO task_search_data VALUES ((1500 << 37) + 1, x'00000004')",
  'a tombstone of a segment to come': "INSERT INTO task_search_data VALUES ((67036 << 37), x'0400000000000000')",
  'a block behind the last of its segment':
    "INSERT INTO task_search_data SELECT MAX(id) + 900, x'00000004' FROM task_search_data WHERE id < (65536 << 37)",
  'a block of no segment': "INSERT INTO task_search_data VALUES (-5, x'00')",
  'a block between the averages and the structure': "INSERT INTO task_search_data VALUES (5, x'00')",
  'another cookie in the structure':
    "UPDATE task_search_data SET block = CAST(x'00000001' || substr(block, 5) AS BLOB) WHERE id = 10",
  'a lost setting': 'DELETE FROM task_search_config',
};

describe('the search index', () => {
  it('has a check for every table and column', async () => {
    const database = await openFile(original);
    const columns = await listColumns(database);
    await database.close();
    const inner = columns.filter(({ table }) => table.startsWith('task_search_'));
    expect(inner.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(Object.keys(CHANGES));
  });

  for (const [column, changes] of Object.entries(CHANGES)) {
    for (const sql of changes)
      promiseTest('verify/tampering', `${column}: ${sql}`, async () => {
        expect(await problemsAfter(sql)).toContainEqual(expect.stringMatching(/^task_search/));
      });
  }

  for (const [forgery, sql] of Object.entries(FORGERIES))
    promiseTest('verify/tampering', forgery, async () => {
      expect(await problemsAfter(sql)).toContainEqual(expect.stringMatching(/^task_search/));
    });
});

/** The way to a word is looked up only in an index of more than one page; one transaction writes one such. */
async function addManyWords(path: string): Promise<void> {
  const database = await openFile(path);
  const at = '2026-04-08T22:00:00.000Z';
  await database.write({ durable: false }, async (db) => {
    for (let number = 0; number < 300; number += 1) {
      const task_id = formatTaskId(await nextNumber(db, 'task'));
      const sequence = await nextNumber(db, 'project/words');
      const title = [1, 2, 3, 4, 5].map((word) => `word${number * 7919}x${word}`).join(' ');
      const identity = { task_id, sequence, project: 'words', workflow: 'board', at, actor: 'writer' } as const;
      await insertTask(db, newTask({ title }, identity), { unmet: 0 });
    }
  });
  await database.close();
}

async function problemsAfter(sql: string): Promise<string[]> {
  const path = join(folder, 'copy.db');
  copyFileSync(original, path);
  await tamperFile(path, sql);
  const database = await openFile(path);
  try {
    const { problems } = await database.read((reader) => verifyEverything(reader));
    return problems.map(({ place }: Problem) => place);
  } finally {
    await database.close();
  }
}
