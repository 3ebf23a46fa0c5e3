import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { CliProject, createTemplate, reportOf, withFile } from '../support/cli-project.ts';
import { copyProject } from '../support/folders.ts';
import { tamper } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

let template: CliProject;

beforeAll(async () => {
  template = await createTemplate();
  rmSync(template.path('backup.db'));
});
afterAll(() => template.remove());

const openPlace = () => new CliProject({ like: template });

/** Every row of every table, including the shadow tables of the search index. */
function dump(path: string): Promise<unknown> {
  return withFile(path, async (reader) => {
    const tables = await reader.query<{ name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    );
    const rows: Record<string, unknown> = {};
    for (const { name, sql } of tables)
      rows[name] = sql.includes('VIRTUAL') ? sql : await reader.query(`SELECT * FROM ${name}`);
    return rows;
  });
}

describe('backup', () => {
  promiseTest('backup/exact', 'the default name contains the time and the number of entries', async () => {
    const place = openPlace();
    const { status, answer } = await place.json('backup');
    const file = String(answer['file']);
    expect(status).toBe(0);
    expect(dirname(file)).toBe(dirname(place.ledger));
    expect(basename(file)).toMatch(/^colibri-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-10\.db$/);
    const { size, root } = await reportOf(place.ledger);
    expect(answer).toEqual({ verdict: 'whole', file, size, root, bytes: statSync(file).size, problems: [] });
    expect(await reportOf(file)).toEqual({ size, root, problems: [] });
    expect(await dump(file)).toEqual(await dump(place.ledger));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  promiseTest('backup/exact', 'to the named file or folder, from any folder of the project', async () => {
    const place = openPlace();
    const cwd = place.mkdir('src/deep');
    const { status, stdout, stderr } = await place.runWith({ cwd }, 'backup', '../../monday.db');
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `Using the ledger of ${place.folder}: ${cwd} is inside it.\n`,
    });
    const { size, root } = await reportOf(place.path('monday.db'));
    expect(stdout).toBe(
      `${place.path('monday.db')}\nwhole: ${size} entries, root ${root}, ${statSync(place.path('monday.db')).size} bytes\n`,
    );
    const { answer } = await place.json('backup', place.mkdir('usb stick'));
    expect(dirname(String(answer['file']))).toBe(place.path('usb stick'));
    expect(readdirSync(place.path('usb stick'))).toEqual([basename(String(answer['file']))]);
  });

  promiseTest('backup/exact', 'from a read-only folder', async () => {
    const place = openPlace();
    const config = { COLIBRI_MODE: 'READONLY', COLIBRI_DB_PATH: place.ledger };
    const { status } = await place.runWith({ env: config, cwd: '/' }, 'backup', place.path('copy.db'));
    expect(status).toBe(0);
    expect((await reportOf(place.path('copy.db'))).problems).toEqual([]);
  });

  promiseTest('backup/evidence', 'the copy is kept, and restore refuses it', async () => {
    const place = openPlace();
    await tamper(place.ledger, "UPDATE tasks SET assignee = 'mallory' WHERE task_no = 2");
    const people = await place.run('backup', 'red.db');
    expect(people.status).toBe(1);
    expect(people.stdout).toContain('TAMPERED: ');
    expect(people.stdout).toContain('the first at T-0002: differs from its entry');
    expect(await dump(place.path('red.db'))).toEqual(await dump(place.ledger));
    const { status, answer } = await place.json('backup', 'again.db');
    expect({ status, ...answer }).toMatchObject({
      status: 1,
      verdict: 'tampered',
      problems: [
        { place: 'T-0002', problem: 'differs from its entry' },
        { place: 'task_counts', problem: 'is wrong about ["default","backlog",1,"unassigned"]' },
        { place: 'task_counts', problem: 'has no row for ["default","backlog",1,"mallory"]' },
      ],
    });
    for (const force of [[], ['--force']]) {
      const refused = await place.json('restore', 'red.db', ...force);
      expect(refused).toMatchObject({ status: 1, answer: { verdict: 'refused', reason: 'tampered backup' } });
    }
  });
});

const nothing = async () => undefined;

describe('a refused backup', () => {
  const taken: Record<string, (place: CliProject) => void> = {
    'a file of that name': (place) => writeFileSync(place.path('x.db'), 'mine'),
    'a WAL file that SQLite would apply to it': (place) => writeFileSync(place.path('x.db-wal'), 'mine'),
    'a rollback journal that SQLite would apply to it': (place) => writeFileSync(place.path('x.db-journal'), 'mine'),
    'a link to another file': (place) => {
      writeFileSync(place.path('other'), 'mine');
      symlinkSync(place.path('other'), place.path('x.db'));
    },
  };
  for (const [what, make] of Object.entries(taken)) {
    promiseTest('backup/never-overwrites', `there is ${what}`, async () => {
      const place = openPlace();
      make(place);
      const before = readdirSync(place.folder);
      const { status, stdout, stderr } = await place.run('backup', 'x.db');
      expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
      expect(stderr).toContain('is not overwritten');
      expect(readdirSync(place.folder)).toEqual(before);
      for (const name of before.filter((file) => !file.startsWith('.')))
        expect(readFileSync(place.path(name), 'utf8')).toBe('mine');
    });
  }

  promiseTest('backup/never-overwrites', 'the target is the ledger itself', async () => {
    const place = openPlace();
    const { size } = await reportOf(place.ledger);
    for (const name of ['colibri.db', 'colibri.db-wal', 'colibri.db-shm', 'colibri.db-journal'])
      expect((await place.json('backup', `.colibri/${name}`)).status).toBe(3);
    expect(await reportOf(place.ledger)).toMatchObject({ size, problems: [] });
  });

  const refused: Record<
    string,
    {
      make: (place: CliProject) => Promise<void>;
      args?: string[];
      env?: Record<string, string>;
      status: number;
      says: string;
    }
  > = {
    'there is no ledger': {
      make: nothing,
      env: { COLIBRI_DB_PATH: 'gone/colibri.db' },
      status: 2,
      says: 'no ledger at ',
    },
    'the ledger is not a database': {
      make: async (place) => {
        const text = 'just some text, and more of it, so that it is longer than a header'.repeat(20);
        mkdirSync(dirname(place.ledger), { mode: 0o700 });
        writeFileSync(place.ledger, text, { mode: 0o600 });
      },
      status: 2,
      says: 'is not a ledger',
    },
    'the ledger is of a newer version': {
      make: async (place) => {
        copyProject(template.folder, place.folder);
        await tamper(place.ledger, 'PRAGMA user_version = 99');
      },
      status: 2,
      says: 'newer Colibri',
    },
    'the folder does not exist': {
      make: async (place) => copyProject(template.folder, place.folder),
      args: ['no/such/x.db'],
      status: 3,
      says: 'no folder ',
    },
    'the folder is a file': {
      make: async (place) => copyProject(template.folder, place.folder),
      args: ['.colibri/.gitignore/x.db'],
      status: 3,
      says: 'no folder ',
    },
    'the configuration is wrong': {
      make: nothing,
      env: { COLIBRI_MODE: 'LOUD' },
      status: 3,
      says: 'COLIBRI_MODE',
    },
  };
  for (const [why, { make, args = [], env = {}, status, says }] of Object.entries(refused)) {
    promiseTest('backup/refusals', why, async () => {
      const place = new CliProject();
      await make(place);
      const people = await place.runWith({ env }, 'backup', ...args);
      expect({ status: people.status, stdout: people.stdout }).toEqual({ status, stdout: '' });
      expect(people.stderr).toMatch(/^colibri backup: /);
      expect(people.stderr).toContain(says);
      const machines = await place.runWith({ env }, 'backup', ...args, '--json');
      const { verdict, message } = JSON.parse(machines.stdout) as Record<string, string>;
      expect({ status: machines.status, verdict, message: message?.includes(says) }).toEqual({
        status,
        verdict: status === 3 ? 'bad input' : 'cannot tell',
        message: true,
      });
      expect(existsSync(place.path('x.db'))).toBe(false);
    });
  }

  promiseTest('backup/refusals', 'too many arguments', async () => {
    expect((await openPlace().run('backup', 'a.db', 'b.db')).status).toBe(3);
  });
});
