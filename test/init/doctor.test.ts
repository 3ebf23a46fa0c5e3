import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkNode } from '../../src/cli/doctor/machine.ts';
import { copyProject } from '../support/folders.ts';
import { projectReport } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createFileOfVersion } from '../support/sample-ledgers.ts';
import { connectProgram, makeProject, openProgram, runProgram } from './init-project.ts';

interface Checked {
  readonly ok: boolean;
  readonly checks: { check: string; status: string; message: string; fix?: string }[];
}

type Project = ReturnType<typeof makeProject>;

/** Set up by init, with a ledger that a server created. */
let template: string;

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'colibri-doctor-test-'));
  mkdirSync(join(template, '.git'));
  expect(runProgram(['init', 'claude-code'], { cwd: template }).code).toBe(0);
  const { client, close } = await connectProgram(template);
  await call(client, 'task_create', { title: 'one' });
  await close();
  expect((await projectReport(template)).problems).toEqual([]);
  for (const side of ['-shm', '-wal']) rmSync(join(template, `.colibri/colibri.db${side}`), { force: true });
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

function makeHealthy(): Project {
  const project = makeProject();
  copyProject(template, project.root);
  return project;
}

function diagnose(project: Project, env: Readonly<Record<string, string | undefined>> = {}, cwd = project.root) {
  const { code, stdout, stderr } = runProgram(['doctor', '--json'], { cwd, home: project.home, env });
  const { ok, checks } = JSON.parse(stdout) as Checked;
  expect({ stderr, ok }).toEqual({ stderr: '', ok: code === 0 });
  for (const { status, fix } of checks) expect(fix === undefined).toBe(status === 'ok');
  return { code, checks, find: (name: string) => checks.filter(({ check }) => check === name) };
}

describe('colibri doctor', () => {
  promiseTest('doctor/finds', 'a ledger that git does not ignore', () => {
    const project = makeHealthy();
    rmSync(join(project.root, '.git'), { recursive: true });
    execFileSync('git', ['init', '-q', project.root]);
    expect(diagnose(project).find('git')).toEqual([]);
    writeFileSync(join(project.root, '.colibri/.gitignore'), '');
    expect(diagnose(project).find('git')).toMatchObject([
      { status: 'warn', message: expect.stringMatching(/^git does not ignore .*colibri\.db$/) },
    ]);
  });

  promiseTest('doctor/healthy', 'every check is ok and states what it found', async () => {
    const project = makeHealthy();
    const { code, checks } = diagnose(project);
    expect(code).toBe(0);
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(checks.map(({ check }) => check)).toEqual(
      'colibri node sqlite configuration ledger permissions in-use disk claude-code skills'.split(' '),
    );
    const { size, root } = await projectReport(project.root);
    expect(checks.find(({ check }) => check === 'ledger')?.message).toContain(`${size} entries, root ${root}`);
  });

  promiseTest('doctor/healthy', 'as text, from a subfolder', () => {
    const project = makeHealthy();
    const { code, stdout } = runProgram(['doctor'], { cwd: join(project.root, 'src'), home: project.home });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {3}skills +5 in /m);
    expect(stdout).toMatch(/^ok {3}in-use +by no server$/m);
    expect(stdout).not.toContain('\u001B');
  });

  promiseTest('doctor/touches-nothing', 'beside a ledger that no server has open', () => {
    const project = makeHealthy();
    const before = project.snapshot();
    expect(diagnose(project).code).toBe(0);
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('doctor/touches-nothing', 'in an empty folder', () => {
    const project = makeProject();
    const before = project.snapshot();
    const { code, find } = diagnose(project);
    expect(code).toBe(0);
    expect(find('ledger')[0]).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('no ledger at ') as string,
    });
    expect(find('clients')[0]?.fix).toContain('colibri init');
    expect(find('skills')[0]?.status).toBe('warn');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('doctor/finds', 'servers that have the ledger open', async () => {
    const project = makeHealthy();
    const [one, two] = [await openProgram(project.root), await openProgram(project.root)];
    for (const { client } of [one, two]) await call(client, 'server_health');
    expect(diagnose(project).find('in-use')).toEqual([{ check: 'in-use', status: 'ok', message: 'by 2 servers' }]);
    await one.client.close();
    await two.client.close();
  });

  promiseTest('doctor/finds', 'a server that died', () => {
    const project = makeHealthy();
    writeFileSync(join(project.root, '.colibri/colibri.db-00000000-0000-4000-8000-000000000000.live'), '');
    expect(diagnose(project).find('in-use')).toContainEqual(
      expect.objectContaining({ status: 'warn', message: '1 server died' }),
    );
  });

  promiseTest('doctor/finds', 'files that other users can read', () => {
    const project = makeHealthy();
    chmodSync(join(project.root, '.colibri/colibri.db'), 0o644);
    chmodSync(join(project.root, '.colibri'), 0o755);
    const { code, find } = diagnose(project);
    // No server opens such a ledger.
    expect(code).toBe(1);
    expect(find('trust')).toMatchObject([{ status: 'fail', fix: expect.stringContaining('colibri trust') as string }]);
    expect(find('permissions').map(({ status, fix }) => [status, fix?.split(' /')[0]])).toEqual([
      ['warn', 'run chmod 600'],
      ['warn', 'run chmod 700'],
    ]);
  });

  const DAMAGES: [string, (database: Buffer) => Buffer, RegExp, string][] = [
    ['a ledger of a newer version', (bytes) => withVersion(bytes, 99), /newer Colibri \(schema 99\)/, 'fail'],
    ['a ledger whose version was set back', (bytes) => withVersion(bytes, 1), /user_version differs/, 'fail'],
    [
      'a file that is not a database',
      () => Buffer.from('hello'.repeat(1000)),
      /colibri\.db: the file is damaged/,
      'fail',
    ],
    ['a truncated file', (bytes) => bytes.subarray(0, 8192), /colibri\.db/, 'fail'],
    ['a database of another program', (bytes) => withApplication(bytes), /another program/, 'fail'],
  ];
  for (const [name, damage, problem, status] of DAMAGES) {
    promiseTest('doctor/finds', name, () => {
      const project = makeHealthy();
      const file = join(project.root, '.colibri/colibri.db');
      writeFileSync(file, damage(readFileSync(file)));
      const before = project.snapshot();
      const { code, find } = diagnose(project);
      expect(find('ledger')[0]).toMatchObject({ status, message: expect.stringMatching(problem) as string });
      expect(find('ledger')[0]?.message).not.toContain('colibri-doctor-');
      expect(code).toBe(status === 'fail' ? 1 : 0);
      expect(project.snapshot()).toEqual(before);
    });
  }

  promiseTest('doctor/finds', 'a ledger of an older version', async () => {
    const project = makeHealthy();
    const file = join(project.root, '.colibri/colibri.db');
    rmSync(file);
    await createFileOfVersion(file, 1);
    chmodSync(file, 0o600);
    const { code, find } = diagnose(project);
    const message = expect.stringMatching(/has schema 1, this version uses/) as string;
    expect(find('ledger')[0]).toMatchObject({ status: 'warn', message });
    expect(code).toBe(0);
  });

  promiseTest('doctor/finds', 'a folder instead of the ledger', () => {
    const project = makeProject();
    mkdirSync(join(project.root, 'ledger'));
    const { code, find } = diagnose(project, { COLIBRI_DB_PATH: 'ledger' });
    expect({ code, status: find('ledger')[0]?.status }).toEqual({ code: 1, status: 'fail' });
  });

  promiseTest('doctor/finds', 'every variable of the old system', () => {
    const { code, find } = diagnose(makeProject(), { AMS_ROOT: '/x', AMS_MODE: '' });
    expect(code).toBe(1);
    expect(find('configuration').map(({ fix }) => fix)).toEqual(['unset AMS_ROOT', 'unset AMS_MODE']);
  });

  promiseTest('doctor/finds', 'an invalid variable', () => {
    const { code, find } = diagnose(makeProject(), { COLIBRI_MODE: 'fast' });
    expect(code).toBe(1);
    expect(find('configuration')[0]).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('FULL') as string,
      fix: expect.stringContaining('COLIBRI_MODE') as string,
    });
  });

  promiseTest('doctor/finds', 'clients that are not connected, cannot be read, or start a missing program', () => {
    const project = makeProject({
      'CLAUDE.md': '',
      '.cursor/mcp.json': '{',
      '.vscode/mcp.json': '{"servers": {"colibri": {"command": "node", "args": ["/gone/colibri.js"]}}}',
      '.windsurf/x': '',
      '.kiro/settings/mcp.json': '{"mcpServers": {"flight": {"command": "npx", "args": ["-y", "colibri-mcp@0.1.0"]}}}',
    });
    const { code, find } = diagnose(project);
    expect(code).toBe(1);
    expect(find('claude-code')[0]).toMatchObject({ status: 'warn', fix: 'run colibri init claude-code' });
    expect(find('windsurf')[0]).toMatchObject({ status: 'warn', fix: 'run colibri init --global windsurf' });
    expect(find('kiro')).toMatchObject([{ status: 'warn', fix: 'rename flight to colibri' }]);
    expect(find('cursor')[0]).toMatchObject({ status: 'fail', message: expect.stringContaining('line 1') as string });
    expect(find('vscode')[0]).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('/gone/colibri.js') as string,
    });
  });

  promiseTest('doctor/finds', 'skills with defects', () => {
    const project = makeProject({ '.agents/skills/bad/SKILL.md': 'no front matter' });
    const { code, find } = diagnose(project);
    expect(code).toBe(0);
    expect(find('skills')[1]).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('no front matter') as string,
    });
  });

  it.each([
    ['18.20.0', 'fail'],
    ['20.18.3', 'fail'],
    ['20.19.0', 'ok'],
    ['22.0.0', 'ok'],
    ['24.21.0', 'ok'],
  ])('rates Node %s as %s', (version, status) => {
    expect(checkNode(version).status).toBe(status);
  });

  for (const [name, home] of [
    ['is not set', undefined],
    ['is empty', ''],
    ['is missing', '/nonexistent/home'],
    ['is relative', 'home'],
    ['is a file', resolve('package.json')],
  ] as const)
    promiseTest('doctor/healthy', `when HOME ${name}`, () => {
      const project = makeHealthy();
      const before = project.snapshot();
      expect(diagnose(project, { HOME: home, USERPROFILE: home }).code).toBe(0);
      expect(project.snapshot()).toEqual(before);
    });

  promiseTest('doctor/healthy', 'when HOME is not readable', () => {
    const project = makeHealthy();
    chmodSync(project.home, 0o000);
    expect(diagnose(project).code).toBe(0);
    chmodSync(project.home, 0o700);
  });

  promiseTest('doctor/finds', 'a client that is not connected, when HOME is missing', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    const { code, find } = diagnose(project, { HOME: '/nonexistent/home', USERPROFILE: '/nonexistent/home' });
    expect({ code, found: find('claude-code')[0]?.status }).toEqual({ code: 0, found: 'warn' });
  });

  it('prints its exit codes with --help', () => {
    const { stdout } = makeProject().run('doctor', '--help');
    expect(stdout).toMatch(/Exit codes:\n {2}0 {3}/);
  });
});

function withVersion(bytes: Buffer, version: number): Buffer {
  bytes.writeUInt32BE(version, 60);
  return bytes;
}

function withApplication(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(1, 68);
  return bytes;
}
