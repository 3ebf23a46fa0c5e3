import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { colibri, createProject, expectWhole, ledgerOf, withAgent } from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

const COMMANDS = [
  ['board'],
  ['board', '--all'],
  ['show', '1'],
  ['timeline', '1'],
  ['next'],
  ['log'],
  ['log', '--follow'],
];

/** Names the path, because a folder above may have a ledger. */
const nowhere = (folder: string) => ({ COLIBRI_DB_PATH: join(folder, 'none.db') });

describe('without a ledger', () => {
  for (const command of COMMANDS) {
    promiseTest('cli/people-begin', `colibri ${command.join(' ')}`, () => {
      const folder = createProject();
      const { stdout, stderr, status } = colibri(folder, command, nowhere(folder));
      expect([stdout, status]).toEqual(['', 2]);
      expect(stderr).toContain(`colibri ${command[0]}: no ledger at ${join(folder, 'none.db')}`);
      expect(stderr).toContain('colibri init');
      const json = colibri(folder, [...command, '--json'], nowhere(folder));
      expect([json.stderr, json.status]).toEqual(['', 2]);
      expect(JSON.parse(json.stdout)).toEqual({ error: expect.stringContaining('no ledger at ') as string });
    });
  }
});

describe('where the ledger was deleted', () => {
  promiseTest('cli/deleted-ledger', 'names the newest backup, and the command works as printed', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', (agent) => agent('task_create', { title: 'One' }));
    for (const name of ['first.db', "the newest; it's.db"]) {
      expect(colibri(folder, ['backup', join('.colibri', name)]).status).toBe(0);
      const seconds = name === 'first.db' ? 1000 : 2000;
      utimesSync(join(folder, '.colibri', name), seconds, seconds);
    }
    writeFileSync(join(folder, '.colibri', 'unrelated.db'), 'no ledger');
    symlinkSync('first.db', join(folder, '.colibri', 'link.db'));
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${ledgerOf(folder)}${suffix}`, { force: true });
    const below = join(folder, 'src');
    mkdirSync(below);
    const command = `colibri restore '../.colibri/the newest; it'\\''s.db'`;
    const lines = [
      `no ledger at ${join(realpathSync(folder), '.colibri', 'colibri.db')}`,
      'There are 2 backups beside it. To restore the newest, run:',
      `  ${command}`,
    ];
    for (const name of ['board', 'log', 'verify'])
      expect(colibri(below, [name])).toEqual({
        stdout: '',
        stderr: `colibri ${name}: ${lines.join('\n')}\n`,
        status: 2,
      });
    expect(JSON.parse(colibri(below, ['verify', '--json']).stdout)).toEqual({
      verdict: 'cannot tell',
      message: lines.join('\n'),
    });
    expect(colibri(folder, ['doctor']).stdout).toContain("run colibri restore '.colibri/the newest; it'\\''s.db'");
    const run = command.replace('colibri', `${process.execPath} ${resolve('dist/colibri.js')}`);
    const { PATH = '' } = process.env;
    const restored = spawnSync('sh', ['-c', run], { cwd: below, encoding: 'utf8', env: { PATH } });
    const [project, inside] = [realpathSync(folder), realpathSync(below)];
    const stderr = `Using the ledger of ${project}: ${inside} is inside it.\n`;
    expect(restored).toMatchObject({ status: 0, stderr });
    expect(colibri(below, ['board']).stdout).toContain('One');
    expectWhole(folder);
  });

  promiseTest(
    'cli/deleted-ledger',
    'a server that creates another one says so, and so do doctor and board',
    async () => {
      const folder = createProject();
      await withAgent(folder, 'claude', (agent) => agent('task_create', { title: 'One' }));
      expect(colibri(folder, ['backup', '.colibri/monday.db']).status).toBe(0);
      utimesSync(join(folder, '.colibri', 'monday.db'), 1000, 1000);
      const listProblems = () => JSON.parse(colibri(folder, ['call', 'server_health', '{}']).stdout).problems;
      expect(listProblems()).toEqual([]);
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${ledgerOf(folder)}${suffix}`, { force: true });
      await withAgent(folder, 'claude', async () => undefined);
      expect(listProblems()).toEqual([
        { code: 'EARLIER_BACKUP', message: expect.stringMatching(/monday\.db is a backup of an earlier one/) },
      ]);
      const command = 'colibri restore .colibri/monday.db --force';
      expect(colibri(folder, ['board']).stdout).toContain(
        `There is a backup beside it. To restore it, run:\n  ${command}\n`,
      );
      expect(colibri(folder, ['doctor']).stdout).toContain(command);
      expect(colibri(folder, command.split(' ').slice(1))).toMatchObject({ status: 0 });
      expect(colibri(folder, ['board']).stdout).toContain('One');
      expect(listProblems()).toEqual([]);
      expectWhole(folder);
    },
  );
});

describe('beside other ledgers', () => {
  promiseTest('cli/deleted-ledger', 'takes none of them, nor the file that a link leads to, for a backup', async () => {
    const folder = createProject();
    const at = (name: string) => ({ COLIBRI_DB_PATH: join(folder, name) });
    const listProblems = (name: string) =>
      JSON.parse(colibri(folder, ['call', 'server_health', '{}'], at(name)).stdout).problems;
    const remove = (name: string) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, name + suffix), { force: true });
    };
    expect(listProblems('new.db')).toEqual([]);
    symlinkSync('new.db', join(folder, 'link.db'));
    utimesSync(join(folder, 'new.db'), 1000, 1000);
    expect(listProblems('link.db')).toEqual([]);
    expect(listProblems('two.db')).toEqual([]);
    expect(colibri(folder, ['add', 'One'], at('one.db'))).toMatchObject({ status: 0 });
    for (const name of ['one-monday.db', 'monday.db'])
      expect(colibri(folder, ['backup', name], at('one.db')).status).toBe(0);
    expect(colibri(folder, ['add', 'Three'], at('three.db'))).toMatchObject({ status: 0 });
    remove('one.db');
    expect(colibri(folder, ['board'], at('one.db'))).toMatchObject({
      stderr: expect.stringMatching(/There is a backup beside it.*\n {2}colibri restore one-monday\.db\n$/),
    });
    // Without another ledger, every backup can be one of the deleted ledger.
    for (const name of ['new.db', 'link.db', 'two.db', 'three.db', 'one-monday.db']) remove(name);
    expect(colibri(folder, ['board'], at('one.db')).stderr).toContain('colibri restore monday.db');
  });
});

describe('with an empty ledger', () => {
  promiseTest('cli/people-begin', 'explains how to begin and exits with 0', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', async () => undefined);
    for (const command of [['board'], ['next']]) {
      const { stdout, stderr, status } = colibri(folder, command);
      expect([stderr, status]).toEqual(['', 0]);
      expect(stdout).toMatch(/^The ledger is empty.*\n.*colibri init/);
    }
    expect(colibri(folder, ['log']).stdout).toContain('No agent has called a tool yet');
    expect(colibri(folder, ['board', '--json']).stdout).toBe('{"boards":[],"other_projects":[]}\n');
    expect(colibri(folder, ['next', '--json']).stdout).toBe('{"queues":[]}\n');
    expect(colibri(folder, ['log', '--json'])).toEqual({ stdout: '', stderr: '', status: 0 });
    expect(colibri(folder, ['show', '1'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('empty') as string,
    });
    expect(colibri(folder, ['board', '-p', 'web'])).toMatchObject({ status: 1 });
    expectWhole(folder);
  });
});

describe('wrong usage', () => {
  const wrong: [string[], RegExp][] = [
    [['show'], /missing required argument/],
    [['show', 'banana'], /T-0042, t-42 or 42/],
    [['show', '1', '2'], /too many arguments/],
    [['board', 'web'], /too many arguments/],
    [['board', '--project', 'My Shop'], /slug/],
    [['board', '--project'], /argument missing/],
    [['board', '-n', '0'], /from 1/],
    [['board', '--width', '5'], /from 20/],
    [['log', '-n', 'all'], /whole number/],
    [['log', '-n', '-1'], /whole number/],
    [['log', '--folow'], /--follow/],
    [['next', '-n', '1e3'], /whole number/],
    [['bord'], /board/],
  ];
  for (const [command, message] of wrong) {
    promiseTest('cli/people-wrong', `colibri ${command.join(' ')}`, () => {
      const folder = createProject();
      const { stdout, stderr, status } = colibri(folder, command, nowhere(folder));
      expect([stdout, status]).toEqual(['', 64]);
      expect(stderr).toMatch(message);
      // A script that asked for JSON reads the same problem from standard output.
      const [name = '', ...rest] = command;
      const asked = colibri(folder, [name, '--json', ...rest], nowhere(folder));
      expect([asked.stderr, asked.status]).toEqual(['', 64]);
      expect(JSON.parse(asked.stdout)).toEqual({ error: expect.stringMatching(message) as string });
      expect(asked.stdout).toMatch(/; run colibri (?:\w+ )?--help for usage"\}\n$/);
    });
  }

  it('names the invalid variable', () => {
    const { stderr, status } = colibri(createProject(), ['board'], { COLIBRI_PROJECT: 'My Shop' });
    expect([status, stderr]).toEqual([3, expect.stringContaining('COLIBRI_PROJECT')]);
  });

  it('names a file that is not a ledger', () => {
    const folder = createProject();
    writeFileSync(join(folder, 'none.db'), 'this is no database, but long enough to look like a file of some kind');
    const { stderr, status } = colibri(folder, ['board'], nowhere(folder));
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^colibri board: .*none\.db/)]);
  });

  it.each(['board', 'show', 'next', 'log'])('%s --help has examples and exit codes', (command) => {
    const { stdout, status } = colibri(createProject(), [command, '--help']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/Examples:\n {2}colibri [\s\S]*Exit codes:\n {2}0 {3}/);
    expect(stdout).toContain('--json');
  });
});
