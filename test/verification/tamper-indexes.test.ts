import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger } from '../support/sample-ledgers.ts';
import { tamperFile } from '../support/tamper.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-indexes-'));
const original = join(folder, 'original.db');
await buildFullLedger(original);
afterAll(() => rmSync(folder, { recursive: true }));

const READY = 'CREATE INDEX tasks_ready ON tasks (project, priority DESC, task_no)';
const BY_PROJECT = 'CREATE INDEX tasks_by_project ON tasks (project, is_open, updated_at, task_no)';

/** Each leaves every definition unchanged, so a check of the definitions finds nothing. */
const FORGERIES: Readonly<Record<string, { readonly steps: readonly string[]; readonly place: string }>> = {
  'an index that leaves a row out': {
    steps: [
      `DROP INDEX tasks_by_project; ${BY_PROJECT} WHERE task_no <> 2`,
      `UPDATE sqlite_schema SET sql = '${BY_PROJECT}' WHERE name = 'tasks_by_project'`,
    ],
    place: 'tasks',
  },
  'a partial index with a row that its condition excludes': {
    steps: [
      `DROP INDEX tasks_ready; ${READY} WHERE is_ready = 1 OR task_no = 1`,
      `UPDATE sqlite_schema SET sql = '${READY} WHERE is_ready = 1' WHERE name = 'tasks_ready'`,
    ],
    place: 'tasks',
  },
  'a row that no index has': {
    steps: [
      "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE tbl_name = 'thoughts' AND sql LIKE 'CREATE UNIQUE INDEX%'",
      "DELETE FROM sqlite_schema WHERE tbl_name = 'thoughts' AND sql LIKE 'CREATE UNIQUE INDEX%'",
      `INSERT INTO thoughts SELECT 900, idx, task_no, 900, attempt, session_no, session_seq, type,
         'an invented decision', recorded_at, recorded_by, 'x', hash, extras, salt FROM thoughts WHERE thought_no = 1`,
      'INSERT INTO sqlite_schema SELECT * FROM kept; DROP TABLE kept',
    ],
    place: 'thoughts',
  },
};

describe('an index that differs from its table', () => {
  for (const [name, { steps, place }] of Object.entries(FORGERIES))
    promiseTest('verify/tampering', name, async () => {
      const path = join(folder, `${place}.db`);
      copyFileSync(original, path);
      for (const step of steps) await tamperFile(path, step);
      const { status, stdout } = await runColibri(['verify', '--json'], { COLIBRI_DB_PATH: path }, folder);
      expect(status).toBe(1);
      expect(JSON.parse(stdout).problems).toContainEqual({ place, problem: expect.stringContaining('damaged') });
    });
});
