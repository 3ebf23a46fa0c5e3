import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { snapshot } from '../init/init-project.ts';
import { tamper } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type Clone, clonesOfOneLedger } from './fixtures/hostile-project.ts';

const createClone = clonesOfOneLedger();

const TASKS = 3;

describe('colibri trust shows', () => {
  promiseTest('trust/shows', 'the contents are shown, and nothing is accepted without consent', async () => {
    const clone = await createTracked();
    const before = everything(clone);
    const { code, stdout, stderr } = clone.run(['trust']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const part of [
      clone.path,
      /is tracked by git/,
      /holds +3 tasks, 0 thoughts, 0 sessions/,
      /agents +alice/,
      /written +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ to \d{4}-/,
      /verified +whole: \d+ entries, root [0-9a-f]{64}/,
      /not accepted; run colibri trust --yes to accept it/,
    ])
      expect(stderr).toMatch(part);
    expect(everything(clone)).toEqual(before);
    expect(clone.run(['verify']).code).toBe(2);
  });

  promiseTest('trust/shows', 'side files of the ledger are not touched', async () => {
    const clone = await createTracked();
    writeFileSync(`${clone.path}-shm`, Buffer.alloc(32_768), { mode: 0o600 });
    writeFileSync(`${clone.path}-wal`, '', { mode: 0o600 });
    const before = everything(clone);
    expect(clone.run(['trust']).stderr).toMatch(/verified +whole/);
    expect(everything(clone)).toEqual(before);
  });

  promiseTest('trust/shows', 'the same facts as JSON', async () => {
    const clone = await createTracked();
    const { code, stdout } = clone.run(['trust', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'not accepted',
      file: clone.path,
      reasons: [`${clone.path} is tracked by git`],
      tasks: TASKS,
      thoughts: 0,
      sessions: 0,
      agents: ['alice'],
      bytes: statSync(clone.path).size,
      root: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      ledger_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
  });

  for (const [answer, isAccepted] of [
    ['y', true],
    ['YES', true],
    ['n', false],
    ['', false],
    ['yikes', false],
  ] as const)
    promiseTest(
      'trust/shows',
      `on a terminal it asks, and takes "${answer}" for ${isAccepted ? 'a yes' : 'a no'}`,
      async () => {
        const clone = await createTracked();
        const { status, stdout, stderr } = answerOnTerminal(clone, answer);
        expect(stdout).toContain('3 tasks');
        expect(stderr).toContain('Use this ledger? [y/N]');
        expect(status).toBe(isAccepted ? 0 : 1);
        expect(clone.run(['verify']).code).toBe(isAccepted ? 0 : 2);
      },
    );

  promiseTest('trust/shows', 'control characters of stored text are escaped', async () => {
    const clone = await createTracked();
    await forgeActor(clone, '\u001B[2Jwhole\u202E');
    const { code, stdout, stderr } = clone.run(['trust', '--yes']);
    for (const control of ['\u001B', '\u202E']) expect(`${stdout}${stderr}`).not.toContain(control);
    expect(code).toBe(1);
  });

  promiseTest('trust/shows', '--help explains the command', async () => {
    const { stdout } = (await createClone()).run(['trust', '--help']);
    for (const part of ['Examples:', 'colibri trust --yes', 'Exit codes:\n  0   accepted'])
      expect(stdout).toContain(part);
  });

  for (const [name, prepare, args, code, says] of [
    ['no ledger', ({ folder }: Clone) => rmSync(folder, { recursive: true }), [], 3, /no ledger at/],
    ['a ledger that was made here', () => undefined, [], 0, /nothing to accept/],
    ['an unknown option', () => undefined, ['--maybe'], 3, /unknown option/],
    ['a link', linkLedger, ['--yes'], 1, /symbolic link.*COLIBRI_DB_PATH/],
    ['a file that is not a database', spoil, ['--yes'], 2, /damaged or is not a ledger/],
  ] as const)
    promiseTest('trust/shows', `reports whether acceptance is needed: ${name}`, async () => {
      const clone = await createClone();
      prepare(clone);
      const before = everything(clone);
      const { code: status, stdout, stderr } = clone.run(['trust', ...args]);
      expect({ status, says: `${stdout}${stderr}` }).toEqual({
        status: code,
        says: expect.stringMatching(says) as string,
      });
      expect(everything(clone)).toEqual(before);
    });

  promiseTest('trust/shows', 'a named file and a PostgreSQL ledger need no acceptance', async () => {
    const clone = await createTracked();
    const named = clone.run(['trust'], { COLIBRI_DB_PATH: clone.path });
    expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to accept') as string });
    const postgres = clone.run(['trust', '--json'], { COLIBRI_DATABASE_URL: 'postgres://user:secret@db/ledger' });
    expect(postgres.code).toBe(3);
    expect(postgres.stdout).not.toContain('secret');
  });
});

describe('colibri trust accepts no ledger that was tampered with', () => {
  const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n';
  for (const [name, sql, place] of [
    ['a changed task', "UPDATE tasks SET title = 'other'", /T-000/],
    [
      'a changed entry',
      "UPDATE ledger_entries SET entry = replace(entry, 'alice', 'mallo') WHERE idx = 1",
      /entry|call/,
    ],
    ['a trigger', 'CREATE TRIGGER undo AFTER UPDATE ON tasks BEGIN SELECT 1; END', /undo/],
    [
      'a trigger over an endless view',
      `CREATE VIEW endless AS ${ENDLESS}; CREATE TRIGGER hang BEFORE INSERT ON call_exits BEGIN SELECT * FROM endless; END`,
      /endless|hang/,
    ],
    ['an endless view instead of a table', `DROP TABLE counters; CREATE VIEW counters AS ${ENDLESS}`, /counters/],
    ['a table of its own', 'CREATE TABLE extra (x)', /extra/],
  ] as const)
    promiseTest('trust/tampered', name, async () => {
      const clone = await createTracked();
      await tamper(clone.path, sql);
      const before = everything(clone);
      const { code, stdout } = clone.run(['trust', '--yes', '--json']);
      expect(code).toBe(1);
      const { verdict, message } = JSON.parse(stdout) as { verdict: string; message: string };
      expect({ verdict, message }).toEqual({ verdict: 'tampered', message: expect.stringMatching(place) as string });
      expect(everything(clone)).toEqual(before);
    });
});

describe('an acceptance', () => {
  promiseTest(
    'trust/accepts',
    'an acceptance is stored for its user only, and other users lose access to the files',
    async () => {
      const clone = await createTracked();
      const accepted = clone.run(['trust', '--yes', '--json']);
      expect(accepted.code).toBe(0);
      const { noted_in: file } = JSON.parse(accepted.stdout) as { noted_in: string };
      expect(file.startsWith(join(clone.home, '.config', 'colibri', 'trusted'))).toBe(true);
      expect([mode(file), mode(join(file, '..')), mode(clone.path), mode(clone.folder)]).toEqual([
        0o600, 0o700, 0o600, 0o700,
      ]);
      expect(readdirSync(join(file, '..'))).toHaveLength(1);
      expect(clone.run(['verify']).code).toBe(0);
      expect(clone.run(['trust']).stdout).toContain('was accepted on');
    },
  );

  promiseTest('trust/accepts', 'files that other users could read are made private', async () => {
    const clone = await createClone();
    for (const name of ['colibri.db-wal']) writeFileSync(join(clone.folder, name), '', { mode: 0o644 });
    expect(clone.run(['verify']).code).toBe(2);
    // No home folder is needed to put that right.
    expect(clone.run(['trust', '--yes'], { HOME: '', XDG_CONFIG_HOME: '' }).code).toBe(0);
    expect(mode(`${clone.path}-wal`)).toBe(0o600);
    expect(clone.run(['verify']).code).toBe(0);
  });

  promiseTest('trust/accepts', 'acceptances are stored under XDG_CONFIG_HOME unless it is relative', async () => {
    const clone = await createTracked();
    const elsewhere = join(clone.outside, 'config');
    expect(clone.run(['trust', '--yes'], { XDG_CONFIG_HOME: elsewhere }).code).toBe(0);
    expect(existsSync(join(elsewhere, 'colibri', 'trusted'))).toBe(true);
    expect(clone.run(['verify'], { XDG_CONFIG_HOME: elsewhere }).code).toBe(0);
    expect(clone.run(['verify']).code).toBe(2);
    expect(clone.run(['trust', '--yes'], { XDG_CONFIG_HOME: '.' }).code).toBe(0);
    expect(existsSync(join(clone.root, 'colibri'))).toBe(false);
    expect(existsSync(join(clone.home, '.config', 'colibri'))).toBe(true);
  });

  promiseTest('trust/accepts', 'an acceptance that cannot be stored is an error', async () => {
    const clone = await createTracked();
    writeFileSync(join(clone.home, '.config'), 'a file');
    const { code, stderr } = clone.run(['trust', '--yes']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/cannot store the acceptance.*COLIBRI_DB_PATH/) as string,
    });
    expect(clone.run(['verify']).code).toBe(2);
  });
});

async function createTracked(): Promise<Clone> {
  const clone = await createClone();
  clone.track();
  return clone;
}

function everything(clone: Clone): Record<string, string> {
  return snapshot(join(clone.root, '..'));
}

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}

function linkLedger({ path, outside }: Clone): void {
  writeFileSync(join(outside, 'real.db'), readFileSync(path));
  rmSync(path);
  symlinkSync(join(outside, 'real.db'), path);
}

function spoil(clone: Clone): void {
  writeFileSync(clone.path, 'garbage '.repeat(1000));
  clone.track();
}

/** Every place that an actor is stored in; the record no longer verifies, and the report names what it found. */
async function forgeActor({ path }: Clone, actor: string): Promise<void> {
  await tamper(
    path,
    `UPDATE ledger_entries SET entry = json_set(entry, '$.actor', '${actor}') WHERE salt IS NOT NULL; UPDATE tasks SET title = '${actor}'`,
  );
}

/** Standard input and output say that they are terminals. */
function answerOnTerminal(clone: Clone, answer: string) {
  const pretend = 'for (const stream of [process.stdin, process.stdout]) Object.assign(stream, { isTTY: true });';
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  return spawnSync(process.execPath, [...preload, resolve('dist/colibri.cjs'), 'trust'], {
    cwd: clone.root,
    env: { PATH: process.env['PATH'] ?? '', HOME: clone.home },
    input: `${answer}\n`,
    encoding: 'utf8',
  });
}
