import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { withAgent } from '../support/commands/project-folder.ts';
import { tempFolder } from '../support/folders.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { launcherWithoutRoot } from './without-root.ts';

const launcher = launcherWithoutRoot();

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runAsUser(args: readonly string[], cwd: string, input = ''): Run {
  const [command = '', ...rest] = [...(launcher ?? []), process.execPath, PROGRAM, ...args];
  const env = { PATH: process.env['PATH'] ?? '', HOME: tempFolder() };
  return spawnSync(command, rest, { cwd, env, input, encoding: 'utf8' });
}

interface Report {
  readonly ok: boolean;
  readonly checks: readonly { readonly check: string; readonly status: string; readonly message: string }[];
}

function expectProblem(project: string, problem: string): void {
  const board = runAsUser(['board'], project);
  expect(board).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(problem) });
  expect(board.stderr.trimEnd().split('\n')).toHaveLength(1);
  for (const args of [['verify'], ['add', 'Parse dates']]) {
    const { status, stdout } = runAsUser([...args, '--json'], project);
    expect([args, status]).toEqual([args, 2]);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'cannot tell', message: expect.stringContaining(problem) });
  }
  const { status, stdout, stderr } = runAsUser(['doctor', '--json'], project);
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  const { checks } = JSON.parse(stdout) as Report;
  expect(checks.find(({ check }) => check === 'ledger')).toMatchObject({
    status: 'fail',
    message: expect.stringContaining(problem),
  });
}

describe('a ledger that cannot be reached', () => {
  promiseTest('cli/unreachable', 'a file where its folder should be', () => {
    const project = tempFolder();
    writeFileSync(join(project, '.colibri'), '');
    expectProblem(project, `${join(project, '.colibri')} is not a folder`);
  });

  if (launcher !== undefined) {
    for (const mode of [0o000, 0o600])
      promiseTest('cli/unreachable', `a folder of mode ${mode.toString(8)}, which may not be entered`, async () => {
        const project = tempFolder();
        await withAgent(project, 'claude', (agent) => agent('task_create', { title: 'Parse dates' }));
        const folder = join(project, '.colibri');
        onTestFinished(() => chmodSync(folder, 0o700));
        chmodSync(folder, mode);
        expectProblem(project, `${folder} may not be entered by this user`);
      });

    promiseTest('cli/unreachable', 'doctor reports on a folder that may not be listed', async () => {
      const project = tempFolder();
      await withAgent(project, 'claude', (agent) => agent('task_create', { title: 'Parse dates' }));
      const folder = join(project, '.colibri');
      onTestFinished(() => chmodSync(folder, 0o700));
      chmodSync(folder, 0o100);
      expect(runAsUser(['board'], project)).toMatchObject({ status: 0, stdout: expect.stringContaining('T-0001') });
      const { stdout, stderr } = runAsUser(['doctor', '--json'], project);
      expect(stderr).toBe('');
      const { checks } = JSON.parse(stdout) as Report;
      expect(checks.map(({ check }) => check)).toEqual(expect.arrayContaining(['ledger', 'disk', 'skills']));
    });
  }
});

describe('a current folder whose name is not UTF-8', () => {
  if (process.platform === 'linux')
    promiseTest('cli/unreachable', 'no folder is created beside it', () => {
      const parent = tempFolder();
      const script = 'cd "$1" && mkdir "$2" && cd "$2" && shift 2 && exec "$@"';
      const quoted = `set -- "$1" "$(printf 'a\\377b')" "$2" "$3" add x; ${script}`;
      const run = spawnSync('sh', ['-c', quoted, 'sh', parent, process.execPath, PROGRAM], {
        env: { PATH: process.env['PATH'] ?? '', HOME: tempFolder() },
        encoding: 'utf8',
      });
      expect(run).toMatchObject({
        status: 2,
        stderr: 'colibri add: the name of the current folder is not valid UTF-8; rename it, or change to another one\n',
      });
      expect(readdirSync(parent)).toHaveLength(1);
    });
});

describe('a current folder that was deleted', () => {
  /** A shell changes to the folder and deletes it before it starts the program. */
  function runInDeleted(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = ''): Run {
    const folder = join(tempFolder(), 'gone');
    mkdirSync(folder);
    const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    return spawnSync('sh', ['-c', script, 'sh', folder, process.execPath, PROGRAM, ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: tempFolder(), ...env },
      input,
      encoding: 'utf8',
    });
  }
  const PROBLEM = 'the current folder was deleted; change to another one';

  if (process.platform !== 'win32') {
    for (const name of ['board', 'doctor', 'init', 'verify', 'add x'])
      promiseTest('cli/unreachable', `${name} says so in one line, also as JSON`, () => {
        const args = name.split(' ');
        expect(runInDeleted(args)).toEqual(
          expect.objectContaining({ status: 2, stdout: '', stderr: `colibri ${args[0]}: ${PROBLEM}\n` }),
        );
        const { status, stdout, stderr } = runInDeleted([...args, '--json']);
        expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
        expect(Object.values(JSON.parse(stdout) as object)).toContain(PROBLEM);
      });

    promiseTest('cli/unreachable', 'a server says so in one line', () => {
      expect(runInDeleted([])).toMatchObject({ status: 78, stdout: '', stderr: `colibri: ${PROBLEM}\n` });
    });

    promiseTest('cli/unreachable', 'help, version and completion are printed', () => {
      expect(runInDeleted(['completion', 'bash'])).toMatchObject({ status: 0, stderr: '' });
      expect(runInDeleted(['--version'])).toMatchObject({ status: 0, stderr: '' });
      expect(runInDeleted(['board', '--help'])).toMatchObject({ status: 0, stderr: '' });
    });

    promiseTest('cli/unreachable', 'a hook records what a client reports about its project', async () => {
      const project = tempFolder();
      await withAgent(project, 'claude', (agent) => agent('task_create', { title: 'Parse dates' }));
      const event = {
        session_id: 's',
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_use_id: 'toolu_1',
        tool_input: { command: 'git worktree remove .' },
        tool_response: { stdout: '' },
      };
      const hook = runInDeleted(['hook'], { CLAUDE_PROJECT_DIR: project }, JSON.stringify(event));
      expect(hook).toMatchObject({ status: 0, stderr: '' });
      expect(readdirSync(join(project, '.colibri/spool'))).toEqual([expect.stringMatching(/\.json$/)]);
    });
  }
});
