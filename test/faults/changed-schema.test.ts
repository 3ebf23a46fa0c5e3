import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CliProject, createTemplate } from '../support/cli-project.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { promiseTest } from '../support/promise-test.ts';
import { tamperFile } from '../support/tamper.ts';

let template: CliProject;
beforeAll(async () => {
  template = await createTemplate();
});
afterAll(() => template.remove());

const ENDLESS = `CREATE VIEW endless AS WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n FROM forever)
  SELECT n FROM forever`;
const UNDO = 'CREATE TRIGGER undo AFTER UPDATE ON tasks BEGIN DELETE FROM tasks; END';
const HANG = `${ENDLESS}; CREATE TRIGGER hang AFTER INSERT ON ledger_entries BEGIN SELECT count(*) FROM endless; END`;

describe('a ledger whose schema was changed', () => {
  for (const [name, sql, reason] of [
    ['a trigger that undoes changes', UNDO, /undo differs from the schema: unexpected trigger on tasks/],
    ['a trigger over an endless view', HANG, /hang differs from the schema: unexpected trigger on ledger_entries/],
    [
      'an endless view instead of the log',
      `PRAGMA legacy_alter_table = ON; ALTER TABLE ledger_entries RENAME TO hidden; ${ENDLESS}; CREATE VIEW ledger_entries AS SELECT n AS idx, n AS entry FROM endless`,
      /ledger_entries differs from the schema: it is a view, not a table/,
    ],
    [
      'an endless view that is read instead of a pragma',
      ENDLESS.replace('VIEW endless', 'VIEW pragma_user_version').replace(
        'SELECT n FROM forever',
        'SELECT n AS user_version FROM forever',
      ),
      /pragma_user_version differs from the schema: unexpected view/,
    ],
  ] as const)
    promiseTest('fault/degraded', name, async () => {
      const place = new CliProject({ like: template });
      await tamperFile(place.ledger, sql);
      const before = readFileSync(place.ledger);
      for (const mode of ['FULL', 'READONLY']) {
        const client = await connectRaw({
          cwd: place.folder,
          env: { COLIBRI_MODE: mode, COLIBRI_DB_PATH: place.ledger },
        });
        expect(await client.data('server_health')).toMatchObject({
          status: 'degraded',
          problems: [{ code: 'ERR_INIT_FAILED', message: expect.stringMatching(reason) }],
          db: { open: false },
        });
        expect(JSON.stringify(await client.call('task_list'))).toMatch(
          /ERR_INIT_FAILED.*run colibri verify to see every difference, then restore a backup/,
        );
        expect(await client.end()).toEqual({ code: 0, signal: null });
      }
      expect(readFileSync(place.ledger).equals(before)).toBe(true);
      const { status, stdout } = await place.runWith({ env: { COLIBRI_DB_PATH: place.ledger } }, 'verify');
      expect(status).toBe(1);
      expect(stdout).toMatch(reason);
    });

  promiseTest(
    'store/schema',
    'every command that opens a ledger says what was changed, and leaves everything as it is',
    async () => {
      const place = new CliProject({ like: template });
      await tamperFile(place.ledger, HANG);
      cpSync(place.ledger, place.path('forged.db'));
      const before = readFileSync(place.ledger);
      const env = { COLIBRI_DB_PATH: place.ledger };
      for (const [exitCode, ...args] of [
        [2, 'board'],
        [2, 'next'],
        [2, 'log'],
        [2, 'show', '1'],
        [1, 'backup', 'evidence.db'],
        [1, 'copy', '--to', 'second.db'],
        [1, 'doctor'],
      ] as const) {
        const { status, stdout, stderr } = await place.runWith({ env }, ...args);
        expect([args, status]).toEqual([args, exitCode]);
        expect(stdout + stderr).toMatch(/another program changed this ledger: endless differs from the schema/);
      }
      expect(readFileSync(place.ledger).equals(before)).toBe(true);
    },
  );

  promiseTest('store/schema', 'a changed schema is refused as a backup and as the target of a copy', async () => {
    const place = new CliProject({ like: template });
    await tamperFile(place.path('backup.db'), UNDO);
    const restored = await place.json('restore', 'backup.db');
    expect(restored).toMatchObject({ status: 1, answer: { verdict: 'refused', reason: 'tampered backup' } });
    const copied = await place.json('copy', '--to', 'backup.db');
    expect(copied).toMatchObject({ status: 1, answer: { verdict: 'tampered', problems: [{ place: 'undo' }] } });
  });

  promiseTest('backup/kept', 'restore --force replaces a ledger with a changed schema and keeps it', async () => {
    const place = new CliProject({ like: template });
    await tamperFile(place.ledger, UNDO);
    expect(await place.json('restore', 'backup.db')).toMatchObject({
      status: 2,
      answer: { reason: 'unreadable ledger' },
    });
    const { status, answer } = await place.json('restore', 'backup.db', '--force');
    expect(status).toBe(0);
    expect(String(answer['kept'])).toContain(join('.colibri', 'colibri-replaced-'));
    expect(await place.run('verify')).toMatchObject({ status: 0 });
  });
});
