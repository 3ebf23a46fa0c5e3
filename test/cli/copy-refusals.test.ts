import { existsSync, linkSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { startRefusingPostgres } from '../postgres/fixtures/wire.ts';
import { CliProject, createTemplate, reportOf } from '../support/cli-project.ts';
import { tamper } from '../support/ledger.ts';
import { postgresTarget, readEverything, sqliteTarget, TARGETS, verifyTarget } from '../support/ledger-targets.ts';
import { call } from '../support/memory-server.ts';
import { runOn } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createFileOfVersion } from '../support/sample-ledgers.ts';

let template: CliProject;
let place: CliProject;

beforeAll(async () => {
  template = await createTemplate();
});
afterAll(() => template.remove());
beforeEach(() => {
  place = new CliProject({ like: template });
});

describe('a target whose log is not a prefix of the source', () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    promiseTest('copy/refusals', `a copy on ${engine} with entries of its own`, async () => {
      const target = await TARGETS[engine]();
      const { answer: copied } = await place.json('copy', '--to', target.to);
      const agent = await place.openAgent('bob', target.env);
      await call(agent, 'task_create', { title: 'there' });
      await agent.close();
      for (const titles of [[], ['here', 'and here', 'and here again']]) {
        if (titles.length > 0) await place.addTasks(...titles);
        const before = await readEverything(target);
        const refused = await place.json('copy', '--to', target.to);
        expect(refused).toMatchObject({
          status: 1,
          answer: { verdict: 'refused', reason: 'diverged', common: copied['size'] },
        });
        expect(refused.answer['message']).toContain(`only the first ${String(copied['size'])} match the source`);
        expect(await readEverything(target)).toEqual(before);
      }
      expect((await verifyTarget(target)).problems).toEqual([]);
    });
  }

  promiseTest('copy/refusals', 'another ledger, which is not changed', async () => {
    const other = new CliProject();
    await other.addTasks('something else');
    const before = readFileSync(other.ledger);
    const refused = await place.json('copy', '--to', other.ledger);
    expect(refused).toMatchObject({ status: 1, answer: { reason: 'diverged', common: 0 } });
    expect(readFileSync(other.ledger).equals(before)).toBe(true);
  });

  promiseTest('copy/refusals', 'a ledger that a server has open', async () => {
    expect((await place.run('copy', '--to', 'second.db')).status).toBe(0);
    await place.addTasks('fourth');
    await place.openAgent('bob', { COLIBRI_DB_PATH: place.path('second.db') });
    const isOpen = () => readdirSync(place.folder).some((name) => name.endsWith('.live'));
    while (!isOpen()) await new Promise((resolve) => setTimeout(resolve, 5));
    const refused = await place.json('copy', '--to', 'second.db');
    expect(refused).toMatchObject({ status: 1, answer: { verdict: 'refused', reason: 'in use' } });
    expect((await reportOf(place.path('second.db'))).problems).toEqual([]);
  });
});

describe('a target that is the source', () => {
  promiseTest('copy/refusals', 'a file by its path and through links', async () => {
    linkSync(place.ledger, place.path('hard.db'));
    symlinkSync(place.ledger, place.path('soft.db'));
    // A ledger with a hard link is opened only if COLIBRI_DB_PATH names it.
    const env = { COLIBRI_DB_PATH: place.ledger };
    for (const to of [place.ledger, 'hard.db', 'soft.db']) {
      const { status, stderr } = await place.runWith({ env }, 'copy', '--to', to);
      expect({ status, says: stderr.includes('is the ledger itself') }).toEqual({ status: 3, says: true });
    }
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  promiseTest('copy/refusals', 'a schema by another URL', async () => {
    const target = await postgresTarget();
    expect((await place.run('copy', '--to', target.to)).status).toBe(0);
    const url = new URL(target.to);
    url.searchParams.set('application_name', 'another');
    url.hostname = 'localhost';
    const { status, stderr } = await place.runWith({ env: target.env }, 'copy', '--to', url.href);
    expect({ status, says: stderr.includes('is the ledger itself') }).toEqual({ status: 3, says: true });
    expect((await verifyTarget(target)).problems).toEqual([]);
  });
});

describe('a ledger that was tampered with', () => {
  const edits: Record<string, string> = {
    'an entry was edited': "UPDATE ledger_entries SET entry = replace(entry, 'alice', 'mallo') WHERE idx = 1",
    'an entry is missing': 'DELETE FROM ledger_entries WHERE idx = 3',
    'a task was edited': "UPDATE tasks SET title = 'forged' WHERE task_no = 1",
    'a row was added': "INSERT INTO counters VALUES ('project/forged', 1)",
  };
  for (const [what, sql] of Object.entries(edits))
    promiseTest('copy/refusals', `in the source ${what}: nothing is copied`, async () => {
      await tamper(place.ledger, sql);
      const { status, answer } = await place.json('copy', '--to', 'second.db');
      expect({ status, ...answer }).toMatchObject({ status: 1, verdict: 'tampered' });
      expect(answer['problems']).not.toEqual([]);
      expect(existsSync(place.path('second.db'))).toBe(false);
    });

  promiseTest('copy/refusals', 'a tampered copy is not updated', async () => {
    expect((await place.run('copy', '--to', 'second.db')).status).toBe(0);
    await tamper(place.path('second.db'), "UPDATE ledger_entries SET content = '{}' WHERE idx = 1");
    for (const titles of [[], ['fourth']]) {
      if (titles.length > 0) await place.addTasks(...titles);
      const { status, answer } = await place.json('copy', '--to', 'second.db');
      expect({ status, ...answer }).toMatchObject({ status: 1, verdict: 'differs' });
      expect(String(answer['message'])).toContain('the first at call 1');
    }
    const env = { COLIBRI_DB_PATH: place.path('second.db') };
    expect((await place.runWith({ env }, 'verify')).stderr).toContain('not finished');
  });
});

describe('a target that cannot be used', () => {
  promiseTest(
    'copy/refusals',
    'a file of another program, a newer one, an unfinished one of another version',
    async () => {
      const odd = place.path('odd.db');
      const defects: readonly (readonly [make: () => Promise<void>, says: string])[] = [
        [() => tamper(odd, 'CREATE TABLE cookies (name TEXT)'), 'another program; choose another target with --to'],
        [
          () => createFileOfVersion(odd, 3, 99).then(() => tamper(odd, 'CREATE TABLE later (x INTEGER)')),
          'newer Colibri',
        ],
        [() => createFileOfVersion(odd, 3, -3), 'another version of Colibri has begun'],
        [() => createFileOfVersion(odd, 3), 'has schema 3'],
      ];
      for (const [make, says] of defects) {
        rmSync(odd, { force: true });
        await make();
        const before = readFileSync(place.path('odd.db'));
        const { status, stderr } = await place.run('copy', '--to', 'odd.db');
        expect(stderr).toContain(says);
        expect({ status, same: readFileSync(place.path('odd.db')).equals(before) }).toEqual({ status: 2, same: true });
        // Other commands give the same advice.
        const read = await place.runWith({ env: { COLIBRI_DB_PATH: 'odd.db' } }, 'verify');
        expect(read.stderr).toContain(says.split(';')[0]);
      }
    },
  );

  promiseTest('copy/refusals', 'a schema of another program', async () => {
    const target = await postgresTarget();
    await runOn(target.to, 'CREATE TABLE invoices (id INTEGER)');
    const { status, stderr } = await place.run('copy', '--to', target.to);
    expect({ status, says: stderr.includes('tables of another program') }).toEqual({ status: 2, says: true });
  });

  promiseTest(
    'copy/refusals',
    'a text with a NUL, which no server writes and PostgreSQL cannot hold, is named',
    async () => {
      await tamper(place.ledger, 'UPDATE ledger_entries SET content = content || char(0) WHERE idx = 1');
      for (const to of ['second.db', (await postgresTarget()).to]) {
        const { status, answer } = await place.json('copy', '--to', to);
        expect({ status, ...answer }).toMatchObject({ status: 1, verdict: 'tampered' });
        expect(String(answer['message'])).toMatch(/the first at call \d+: .*; nothing was copied/);
      }
    },
  );
});

describe('bad input', () => {
  const wrong: Record<string, readonly string[]> = {
    'no target': ['copy'],
    'an empty target': ['copy', '--to', ''],
    'a word too many': ['copy', 'now', '--to', 'x.db'],
    'another kind of database': ['copy', '--to', 'mysql://user:secret@host/db'],
    'half a URL': ['copy', '--to', 'postgres://user:secret@host:port/db'],
    'a folder': ['copy', '--to', '.'],
    'a side file of SQLite': ['copy', '--to', 'x.db-wal'],
  };
  for (const [what, args] of Object.entries(wrong))
    promiseTest('copy/refusals', what, async () => {
      const before = readdirSync(place.folder);
      const { status, stdout, stderr } = await place.run(...args);
      expect({ status, stdout, leaks: stderr.includes('secret') }).toEqual({ status: 3, stdout: '', leaks: false });
      expect(stderr).not.toBe('');
      expect(readdirSync(place.folder)).toEqual(before);
    });

  promiseTest('copy/refusals', 'no ledger to copy', async () => {
    const { status, stderr } = await new CliProject().run('copy', '--to', 'x.db');
    expect({ status, says: stderr.includes('no ledger at ') }).toEqual({ status: 2, says: true });
  });

  promiseTest('copy/refusals', '--help has examples and exit codes', async () => {
    const { status, stdout } = await place.run('copy', '--help');
    expect({ status, says: stdout.includes('Examples:') && stdout.includes('Exit codes:') }).toEqual({
      status: 0,
      says: true,
    });
  });
});

describe('a password', () => {
  promiseTest('copy/secrets', 'a wrong password', async () => {
    const url = `postgres://colibri:hush%2Fhush@${await startRefusingPostgres()}/colibri`;
    for (const flags of [[], ['--json']]) {
      const asTarget = await place.run('copy', '--to', url, ...flags);
      const asSource = await place.runWith({ env: { COLIBRI_DATABASE_URL: url } }, 'copy', '--to', 'x.db', ...flags);
      for (const { status, stdout, stderr } of [asTarget, asSource]) {
        expect(status).toBe(2);
        expect(stdout + stderr).toContain('refused the user or the password');
        expect(stdout + stderr).not.toMatch(/hush/);
      }
    }
  });

  promiseTest('copy/secrets', 'for an unreachable server', async () => {
    const { status, stdout, stderr } = await place.run('copy', '--to', 'postgres://colibri:hush@127.0.0.1:1/colibri');
    expect({ status, stdout, leaks: stderr.includes('hush') }).toEqual({ status: 2, stdout: '', leaks: false });
    expect(stderr).toContain('the database cannot be reached');
  });

  promiseTest('copy/secrets', 'on success', async () => {
    const target = await postgresTarget();
    const url = new URL(target.to);
    url.password = 'hush';
    const there = await place.run('copy', '--to', url.href);
    const back = await place.runWith({ env: { COLIBRI_DATABASE_URL: url.href } }, 'copy', '--to', 'back.db', '--json');
    expect([there.status, back.status]).toEqual([0, 0]);
    expect(there.stdout + there.stderr + back.stdout + back.stderr).not.toContain('hush');
    expect(await readEverything(sqliteTarget(place.path('back.db')))).toEqual(
      await readEverything(sqliteTarget(place.ledger)),
    );
  });
});
