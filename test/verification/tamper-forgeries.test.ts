import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import type { TaskRow } from '../../src/domains/tasks/record.ts';
import { currentVersion } from '../../src/domains/tasks/versions.ts';
import type { ThoughtRow } from '../../src/domains/trail/repository.ts';
import { formatTaskId } from '../../src/ids.ts';
import { canonicalize, saltedDigest, thoughtHash } from '../../src/integrity/index.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, openFile } from '../support/sample-ledgers.ts';
import { afterTampering } from '../support/tamper.ts';
import { assertWhole } from '../support/test-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-forgeries-'));
const path = join(folder, 'colibri.db');
await buildFullLedger(path);
const database = await openFile(path);

afterAll(async () => {
  await assertWhole(database);
  await database.close();
  rmSync(folder, { recursive: true });
});

describe('a forger who knows the format', () => {
  found('cuts the tail of the log', /^entry \d+$/, (db) =>
    db.run('DELETE FROM ledger_entries WHERE idx = (SELECT MAX(idx) FROM ledger_entries)'),
  );

  found('cuts the tail of the log and its head', /^call \d+$/, (db) =>
    db.run(`DELETE FROM ledger_entries WHERE idx >= (SELECT size - 2 FROM ledger_head);
            UPDATE ledger_head SET size = size - 2`),
  );

  for (const task of [1, 2, 3])
    found(`cuts the last thought of task ${task} and its counter`, /^\p{L}-\d+$/u, (db) =>
      db.run(`DELETE FROM thoughts WHERE thought_no = (SELECT MAX(thought_no) FROM thoughts WHERE task_no = ${task});
              UPDATE counters SET value = value - 1 WHERE name = 'thought'`),
    );

  for (const session of [1, 2, 3, 4])
    found(`cuts the last record of session ${session} and its count`, /^A-\d+( record \d+)?$/, (db) =>
      db.run(`DELETE FROM session_events WHERE session_no = ${session}
                AND session_seq = (SELECT MAX(session_seq) FROM session_events WHERE session_no = ${session});
              UPDATE sessions SET record_count = record_count - 1 WHERE session_no = ${session}`),
    );

  found('takes the seal off a session', /^A-0002$/, (db) =>
    db.run(`UPDATE sessions SET finalized_idx = NULL, finalized_at = NULL, root = NULL, leaf_count = NULL
            WHERE session_no = 2`),
  );

  found('replaces the root of a sealed session', /^A-0001$/, (db) =>
    db.run(`UPDATE sessions SET root = '${'0'.repeat(64)}' WHERE session_no = 1`),
  );

  found('replaces the root in the session and in its seal', /^node \d+\/\d+$/, (db) =>
    db.run(`UPDATE ledger_entries SET entry = REPLACE(entry, (SELECT root FROM sessions WHERE session_no = 2), '${'0'.repeat(64)}');
            UPDATE sessions SET root = '${'0'.repeat(64)}' WHERE session_no = 2`),
  );

  found('rewrites a thought and the hashes of its chain', /^\p{L}-0001$/u, async (db) => rewriteChain(db, 1));

  found('rewrites a thought, its chain and the entries of the chain', /^node \d+\/\d+$/, async (db) => {
    await rewriteChain(db, 1);
    await rewriteEntries(db);
  });

  found('rewrites a thought, its chain, the entries and the tree above them', /^A-0001$/, async (db) => {
    await rewriteChain(db, 1);
    await rewriteEntries(db);
    await db.run('DELETE FROM ledger_nodes');
    const { storeFinishedSubtrees } = await import('../../src/ledger/stored-tree.ts');
    const [head] = await db.query<{ size: number }>('SELECT size FROM ledger_head');
    for (let size = 1; size <= (head?.size ?? 0); size += 1) await storeFinishedSubtrees(db, size);
  });

  found('rewrites the extras of a thought under its salt', /^\p{L}-0001$/u, (db) =>
    db.run(`UPDATE thoughts SET extras = '{"branch":"main"}' WHERE thought_no = 1`),
  );

  found('rewrites a task, its row and its digest', /^node \d+\/\d+$/, async (db) => {
    const [row] = await db.query<TaskRow>('SELECT * FROM tasks WHERE task_no = 1');
    if (row === undefined) throw new Error('no task');
    const contents = [row, { ...row, assignee: 'mallory' }].map((task) => currentVersion(task).content ?? '');
    const [before, after] = contents.map((content) => saltedDigest('task', row.salt, content));
    await db.run(`UPDATE tasks SET assignee = 'mallory' WHERE task_no = 1;
                  UPDATE task_counts SET assignee = 'mallory' WHERE assignee = 'alice';
                  UPDATE ledger_entries SET entry = REPLACE(entry, '${before}', '${after}')`);
  });

  found('lets a task step back to an earlier event', /^T-0002$/, (db) =>
    db.run('UPDATE tasks SET event_idx = (SELECT MIN(idx) FROM task_versions WHERE task_no = 2) WHERE task_no = 2'),
  );

  found('digests something that is not a task', /^task event \d+$/, async (db) => {
    const salt = '0'.repeat(32);
    await db.query(
      "UPDATE task_versions SET content = '7', salt = $1 WHERE idx = (SELECT MIN(idx) FROM task_versions)",
      [salt],
    );
    const digest = saltedDigest('task', salt, '7');
    await db.run(`UPDATE ledger_entries SET entry = substr(entry, 1, instr(entry, '"task":"') + 7) || '${digest}' || substr(entry, instr(entry, '"task":"') + 72)
                  WHERE idx = (SELECT MIN(idx) FROM task_versions)`);
  });

  for (const [name, sql] of Object.entries({
    'a trigger': 'CREATE TRIGGER forget AFTER INSERT ON thoughts BEGIN DELETE FROM thoughts; END',
    'a trigger under a borrowed name':
      'CREATE TRIGGER task_search_words AFTER INSERT ON thoughts BEGIN DELETE FROM thoughts; END',
    'a view that lies': 'DROP VIEW actions; CREATE VIEW actions AS SELECT 1 AS sequence_no',
    'a table of its own': 'CREATE TABLE notes (text TEXT)',
    'no uniqueness any more': 'DROP INDEX thoughts_first',
    'no view any more': 'DROP VIEW task_waits',
  }))
    found(`leaves ${name}`, /^(forget|task_search_words|actions|notes|thoughts_first|task_waits)$/, (db) =>
      db.run(sql),
    );
});

function found(forgery: string, place: RegExp, tamper: (transaction: Transaction) => Promise<void>): void {
  promiseTest('verify/tampering', `who ${forgery}`, async () => {
    const problems = await afterTampering(database, tamper);
    expect(problems.map((problem) => problem.place)).toContainEqual(expect.stringMatching(place));
  });
}

/** Changes the first thought of a task and makes its chain hold again. */
async function rewriteChain(db: Transaction, taskNo: number): Promise<void> {
  const rows = await db.query<ThoughtRow>('SELECT * FROM thoughts WHERE task_no = $1 ORDER BY chain_position', [
    taskNo,
  ]);
  let previous_hash: string | null = null;
  for (const row of rows) {
    const content = row.chain_position === 1 ? 'I never decided this.' : row.content;
    const hash: string = thoughtHash({ ...row, content, previous_hash, task_id: formatTaskId(taskNo) });
    await db.query('UPDATE thoughts SET content = $1, previous_hash = $2, hash = $3 WHERE thought_no = $4', [
      content,
      previous_hash,
      hash,
      row.thought_no,
    ]);
    previous_hash = hash;
  }
}

/** Makes the entries say what the rows say now. */
async function rewriteEntries(db: Transaction): Promise<void> {
  const rows = await db.query<{ idx: number; hash: string; entry: string }>(
    'SELECT thoughts.idx, hash, entry FROM thoughts JOIN ledger_entries ON ledger_entries.idx = thoughts.idx',
  );
  for (const { idx, hash, entry } of rows) {
    const forged = canonicalize({ ...(JSON.parse(entry) as object), hash });
    await db.query('UPDATE ledger_entries SET entry = $1 WHERE idx = $2', [forged, idx]);
  }
}
