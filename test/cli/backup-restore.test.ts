import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { addTask, CliProject, createTemplate, reportOf, titlesIn } from '../support/cli-project.ts';
import { tamper } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { makeOlder } from '../support/sample-ledgers.ts';

let template: CliProject;

beforeAll(async () => {
  template = await createTemplate();
});
afterAll(() => template.remove());

const openPlace = () => new CliProject({ like: template });

const openBackup = (place: CliProject) =>
  openSqlite({ path: place.path('backup.db'), readOnly: false, durability: 'relaxed', busyTimeoutMs: 1000 });

const listLedgerFolder = (place: CliProject) => readdirSync(dirname(place.ledger)).toSorted();

describe('restore', () => {
  promiseTest('backup/restored', 'on a new machine', async () => {
    const old = openPlace();
    const place = new CliProject();
    mkdirSync(dirname(place.ledger));
    const { status, answer } = await place.json('restore', old.path('backup.db'));
    const { size, root, problems } = await reportOf(old.path('backup.db'));
    expect({ status, answer }).toEqual({ status: 0, answer: { verdict: 'restored', file: place.ledger, size, root } });
    expect(await reportOf(place.ledger)).toEqual({ size, root, problems });
    expect(statSync(place.ledger).mode & 0o777).toBe(0o600);
    const agent = await place.openAgent('bob');
    await addTask(agent, 'fourth');
    const found = (await call(agent, 'task_list', { search: 'second' })).data;
    expect(found).toMatchObject({ tasks: [{ task_id: 'T-0002' }] });
    await agent.close();
    expect(await titlesIn(place.ledger)).toEqual(['first', 'second', 'third', 'fourth']);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  promiseTest(
    'backup/restored',
    'of an older version of the program, which is migrated and else the same',
    async () => {
      const place = openPlace();
      const { size, root } = await reportOf(place.path('backup.db'));
      await makeOlder(await openBackup(place));
      const before = readFileSync(place.path('backup.db'));
      const { status, answer } = await place.json('restore', 'backup.db', '--force');
      expect({ status, answer }).toMatchObject({
        status: 0,
        answer: { verdict: 'restored', size, root, migrated_from: 4 },
      });
      expect(await reportOf(place.ledger)).toEqual({ size, root, problems: [] });
      expect(readFileSync(place.path('backup.db')).equals(before)).toBe(true);
    },
  );

  for (const [what, forgery] of Object.entries({
    'with another title': "UPDATE tasks SET title = 'forged'",
    'without a table that a migration reads': 'DROP TABLE session_records',
    'with a table that a migration makes': 'CREATE TABLE session_events (idx INTEGER)',
  }))
    promiseTest('backup/verified-first', `a backup of an older version, ${what}`, async () => {
      const place = openPlace();
      await makeOlder(await openBackup(place), forgery);
      const before = readFileSync(place.ledger);
      const refused = await place.json('restore', 'backup.db', '--force');
      expect(refused).toMatchObject({ status: 1, answer: { verdict: 'refused', reason: 'tampered backup' } });
      expect(String(refused.answer['message'])).toContain(`${place.path('backup.db')} does not verify`);
      expect(readFileSync(place.ledger).equals(before)).toBe(true);
      expect(listLedgerFolder(place).filter((name) => /replaced|partial/.test(name))).toEqual([]);
    });

  promiseTest('backup/nothing-lost', 'from a ledger of a newer version, which may hold unknown data', async () => {
    const place = openPlace();
    await tamper(place.ledger, 'PRAGMA user_version = 99');
    const { status, answer } = await place.json('restore', 'backup.db');
    expect({ status, ...answer }).toMatchObject({ status: 2, verdict: 'cannot tell', reason: 'unreadable ledger' });
    expect(String(answer['message'])).toMatch(/newer Colibri.*--force/);
    expect((await place.run('restore', 'backup.db', '--force')).status).toBe(0);
  });

  promiseTest(
    'backup/restored',
    'without a folder, which is created with the permissions that a server uses',
    async () => {
      const old = openPlace();
      const place = new CliProject();
      const env = { COLIBRI_DB_PATH: 'new/ledger.db' };
      expect((await place.runWith({ env }, 'restore', old.path('backup.db'))).status).toBe(0);
      expect(readdirSync(place.path('new')).toSorted()).toEqual(['.gitignore', 'ledger.db']);
      expect(statSync(place.path('new')).mode & 0o777).toBe(0o700);
      expect((await reportOf(place.path('new/ledger.db'))).problems).toEqual([]);
    },
  );

  promiseTest('backup/restored', 'in the project that lost its ledger, not in the enclosing one', async () => {
    const outer = openPlace();
    const before = readFileSync(outer.ledger);
    const cwd = outer.mkdir('inner/deep');
    outer.mkdir('inner/.colibri');
    const { status } = await outer.runWith({ cwd }, 'restore', outer.path('backup.db'));
    expect(status).toBe(0);
    expect((await reportOf(outer.path('inner/.colibri/colibri.db'))).problems).toEqual([]);
    expect(readFileSync(outer.ledger).equals(before)).toBe(true);
  });

  promiseTest('backup/kept', 'an older ledger file with the same log needs no --force', async () => {
    const place = openPlace();
    await place.addTasks('fourth');
    expect((await place.run('backup', 'newer.db')).status).toBe(0);
    expect((await place.run('restore', 'backup.db', '--force')).status).toBe(0);
    const old = await reportOf(place.ledger);
    const { status, stdout } = await place.run('restore', 'newer.db');
    expect(status).toBe(0);
    const kept = /kept as (.*)\n/.exec(stdout)?.[1] ?? '';
    expect(basename(kept)).toMatch(/^colibri-replaced-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/);
    expect(await reportOf(kept)).toEqual(old);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(await titlesIn(place.ledger)).toEqual(['first', 'second', 'third', 'fourth']);
    expect(listLedgerFolder(place).filter((name) => /partial|-journal$/.test(name))).toEqual([]);
  });

  promiseTest('backup/kept', 'an edited ledger is replaced, and the edited file is kept as evidence', async () => {
    const place = openPlace();
    await tamper(place.ledger, "UPDATE tasks SET title = 'forged' WHERE task_no = 1");
    const { status, answer } = await place.json('restore', 'backup.db');
    expect({ status, lost: answer['lost'] }).toEqual({ status: 0, lost: 0 });
    expect(await titlesIn(place.ledger)).toEqual(['first', 'second', 'third']);
    expect(await titlesIn(String(answer['kept']))).toEqual(['forged', 'second', 'third']);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  promiseTest('backup/kept', 'a damaged ledger is kept byte for byte with --force', async () => {
    const place = openPlace();
    const damaged = readFileSync(place.ledger).fill('x', 0, 4096);
    rmSync(`${place.ledger}-wal`, { force: true });
    rmSync(`${place.ledger}-shm`, { force: true });
    writeFileSync(place.ledger, damaged);
    const refused = await place.json('restore', 'backup.db');
    expect(refused).toMatchObject({ status: 2, answer: { verdict: 'cannot tell', reason: 'unreadable ledger' } });
    expect(readFileSync(place.ledger).equals(damaged)).toBe(true);
    const { status, answer } = await place.json('restore', 'backup.db', '--force');
    expect(status).toBe(0);
    expect(readFileSync(String(answer['kept'])).equals(damaged)).toBe(true);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  promiseTest('backup/kept', 'side files of a lost ledger are moved away and not applied', async () => {
    const place = openPlace();
    rmSync(place.ledger);
    writeFileSync(`${place.ledger}-wal`, 'left');
    writeFileSync(`${place.ledger}-journal`, 'left');
    expect((await place.run('restore', 'backup.db')).status).toBe(0);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
    const left = listLedgerFolder(place).filter((name) => /replaced-.*-(?:wal|journal)$/.test(name));
    expect(left.map((name) => readFileSync(place.path(`.colibri/${name}`), 'utf8'))).toEqual(['left', 'left']);
  });

  promiseTest('backup/kept', 'a ledger behind a link is replaced at the target of the link', async () => {
    const place = openPlace();
    place.mkdir('disk');
    renameSync(place.ledger, place.path('disk/real.db'));
    rmSync(`${place.ledger}-wal`, { force: true });
    rmSync(`${place.ledger}-shm`, { force: true });
    symlinkSync(place.path('disk/real.db'), place.ledger);
    expect((await place.run('restore', 'backup.db')).status).toBe(2);
    // A link could have come with a clone, so it is used only if COLIBRI_DB_PATH names it.
    const env = { COLIBRI_DB_PATH: place.ledger };
    expect((await place.runWith({ env }, 'restore', 'backup.db')).status).toBe(0);
    expect(lstatSync(place.ledger).isSymbolicLink()).toBe(true);
    expect(realpathSync(place.ledger)).toBe(place.path('disk/real.db'));
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });
});

describe('a restore that loses entries', () => {
  promiseTest('backup/nothing-lost', 'the ledger has entries after the backup', async () => {
    const place = openPlace();
    const common = (await reportOf(place.ledger)).size;
    await place.addTasks('fourth', 'fifth');
    const { size } = await reportOf(place.ledger);
    const refused = await place.json('restore', 'backup.db');
    expect(refused).toMatchObject({
      status: 1,
      answer: { verdict: 'refused', size, common, lost: size - common, backup_size: common },
    });
    expect((await reportOf(place.ledger)).size).toBe(size);
    const people = await place.run('restore', 'backup.db');
    expect(people.stderr).toContain(`${size - common} would be lost; pass --force to replace it anyway`);
    const forced = await place.json('restore', 'backup.db', '--force');
    expect(forced).toMatchObject({ status: 0, answer: { lost: size - common, size: common } });
    expect(await titlesIn(String(forced.answer['kept']))).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
    expect(await titlesIn(place.ledger)).toEqual(['first', 'second', 'third']);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  promiseTest(
    'backup/nothing-lost',
    'ledger and backup went different ways, and the backup is the longer one',
    async () => {
      const place = openPlace();
      const common = (await reportOf(place.ledger)).size;
      const other = new CliProject();
      mkdirSync(dirname(other.ledger));
      await other.run('restore', place.path('backup.db'));
      await other.addTasks('there', 'and there', 'and there again');
      await other.run('backup', 'fork.db');
      await place.addTasks('here');
      const { size } = await reportOf(place.ledger);
      const refused = await place.json('restore', other.path('fork.db'));
      expect(refused).toMatchObject({ status: 1, answer: { size, common, lost: size - common } });
      expect(await titlesIn(place.ledger)).toContain('here');
    },
  );

  promiseTest('backup/nothing-lost', 'the backup is of another ledger', async () => {
    const place = openPlace();
    const other = new CliProject();
    await other.addTasks('elsewhere');
    await other.run('backup', 'backup.db');
    const { size } = await reportOf(place.ledger);
    const refused = await place.json('restore', other.path('backup.db'));
    expect(refused).toMatchObject({ status: 1, answer: { size, common: 0, lost: size } });
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });
});
