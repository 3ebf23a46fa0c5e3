import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

type Project = ReturnType<typeof makeProject>;

interface Check {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

function diagnose(project: Project, ...args: string[]) {
  const { code, stdout, stderr } = project.run('doctor', '--json', ...args);
  expect(stderr).toBe('');
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return { code, found: checks.filter(({ check }) => check === 'recorder') };
}

const ALL = {
  'CLAUDE.md': '',
  '.codex/x': '',
  '.cursor/x': '',
  'GEMINI.md': '',
  '.vscode/x': '',
  '.windsurf/x': '',
  '.opencode/x': '',
};
const FILES = [
  '.claude/settings.local.json',
  '.codex/hooks.json',
  '.cursor/hooks.json',
  '.gemini/settings.json',
  '.github/hooks/colibri.json',
  '.windsurf/hooks.json',
  '.opencode/plugins/colibri.js',
];

const hook = (command: string) => ({ hooks: [{ type: 'command', command }] });

describe('colibri doctor', () => {
  promiseTest('record/doctor', 'each client that init --record set up, and leaves nothing behind', () => {
    const project = makeProject(ALL);
    project.run('init', '--record', '--no-instructions');
    const before = project.snapshot();
    const { code, found } = diagnose(project);
    expect(found.map(({ status, message }) => [status, message.split(':')[0]])).toEqual(
      FILES.map((path) => ['ok', path]),
    );
    expect(found[0]?.message).toContain(`to ${join(project.root, '.colibri', 'spool')}`);
    expect(code).toBe(0);
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('record/doctor', 'says nothing about clients that do not report', () => {
    const project = makeProject({ ...ALL, '.codex/hooks.json': '{"hooks": {"Stop": [{"hooks": []}]}}' });
    expect(diagnose(project).found).toEqual([]);
  });

  promiseTest('record/doctor', 'names the command that fails, prints, reports elsewhere or is not there', () => {
    const broken = (name: string, code: string) => {
      const project = makeProject({ 'bin/colibri.cjs': code, '.colibri/x': '' });
      const line = `${process.execPath} ${join(project.root, 'bin', name)} hook`;
      project.put('.codex/hooks.json', JSON.stringify({ hooks: { Stop: [hook(line)] } }));
      const { code: exit, found } = diagnose(project, '--run');
      expect(exit).toBe(1);
      expect(found[0]?.fix).toBe('run colibri init --record --replace codex');
      return found[0]?.message;
    };
    expect(broken('colibri.cjs', 'console.error("no"); process.exit(3)')).toContain('it exited with 3: no');
    expect(broken('colibri.cjs', 'console.log("hello")')).toContain('it writes to standard output: hello');
    expect(broken('colibri.cjs', '')).toContain('a test event did not arrive in');
    expect(broken('colibri.js', '')).toMatch(/it exited with 1: /);
  });

  promiseTest('record/doctor', 'does not start what may have come with a clone, and asks for missing events', () => {
    const project = makeProject({ '.codex/x': '', '.opencode/x': '' });
    project.run('init', '--record', '--no-instructions');
    const plugin = project.read('.opencode/plugins/colibri.js');
    project.put('.opencode/plugins/colibri.js', `require("node:fs").writeFileSync("ran", "");\n${plugin}`);
    const line = `${process.execPath} -e 'require("node:fs").writeFileSync("ran", "")' colibri hook`;
    project.put('.claude/settings.local.json', JSON.stringify({ hooks: { Stop: [hook(line)] } }));
    const { hooks } = project.readJson('.codex/hooks.json') as { hooks: Record<string, unknown> };
    const { Stop: _stop, SessionEnd: _end, ...rest } = hooks;
    project.put('.codex/hooks.json', JSON.stringify({ hooks: rest }));
    const { code, found } = diagnose(project);
    expect(code).toBe(0);
    expect(found).toEqual([
      expect.objectContaining({
        status: 'warn',
        message: expect.stringContaining('may have come with a clone') as string,
      }),
      expect.objectContaining({ status: 'warn', message: '.codex/hooks.json does not report Stop, SessionEnd' }),
      expect.objectContaining({
        status: 'warn',
        message: expect.stringContaining('may have come with a clone') as string,
      }),
    ]);
    expect(existsSync(join(project.root, 'ran'))).toBe(false);
  });

  promiseTest('record/doctor', 'a server that a variable leads to another ledger than the hooks', () => {
    const server = (dbPath: string) => {
      const colibri = { command: 'node', args: ['x'], env: { COLIBRI_DB_PATH: dbPath } };
      return JSON.stringify({ mcpServers: { colibri } });
    };
    const project = makeProject({ '.mcp.json': server('data/ledger.db'), '.claude/x': '' });
    const { stdout } = project.run('init', 'claude-code', '--record', '--no-instructions');
    expect(stdout).toContain('Claude Code: .mcp.json has COLIBRI_DB_PATH=data/ledger.db, which hooks do not get');
    expect(diagnose(project).found).toMatchObject([
      { status: 'warn', message: expect.stringContaining('.mcp.json has COLIBRI_DB_PATH=data/ledger.db') as string },
      { status: 'ok' },
    ]);
    project.put('.mcp.json', server(join(project.root, '.colibri', 'colibri.db')));
    expect(diagnose(project).found).toMatchObject([{ status: 'ok' }]);
  });

  promiseTest('record/doctor', 'a setting by which the client runs no hook', () => {
    const project = makeProject(
      { '.claude/settings.json': '{"disableAllHooks": true}', '.gemini/settings.json': '{"hooksConfig": {}}' },
      { '.gemini/settings.json': '{"hooksConfig": {"enabled": false}}' },
    );
    const { stdout } = project.run('init', '--record', '--no-instructions');
    const claude = '.claude/settings.json has disableAllHooks: true, so';
    const gemini = '~/.gemini/settings.json has hooksConfig.enabled: false, so';
    expect(stdout).toContain(`${claude} no hook of Colibri runs; remove that setting`);
    expect(stdout).toContain(`${gemini} no hook of Colibri runs; remove that setting`);
    const warnings = () =>
      diagnose(project).found.flatMap(({ status, message }) => (status === 'ok' ? [] : [[status, message]]));
    expect(warnings()).toEqual([
      ['warn', `${claude} Claude Code runs no hook of Colibri`],
      ['warn', `${gemini} Gemini CLI runs no hook of Colibri`],
    ]);
    const settings = project.readJson('.claude/settings.local.json') as object;
    project.put('.claude/settings.local.json', JSON.stringify({ ...settings, disableAllHooks: false }));
    const hooks = project.readJson('.gemini/settings.json') as object;
    const hooksConfig = { enabled: true, disabled: ['colibri'] };
    project.put('.gemini/settings.json', JSON.stringify({ ...hooks, hooksConfig }));
    expect(warnings()).toEqual([
      ['warn', '.gemini/settings.json has colibri in hooksConfig.disabled, so Gemini CLI runs no hook of Colibri'],
    ]);
  });

  promiseTest('record/doctor', 'hooks of the home folder, in projects with and without a ledger folder', () => {
    const project = makeProject();
    project.run('init', '--record', '--global', 'cursor');
    expect(diagnose(project).found).toEqual([
      expect.objectContaining({ status: 'warn', message: expect.stringContaining('records nothing here') as string }),
    ]);
    mkdirSync(join(project.root, '.colibri'), { mode: 0o700 });
    expect(diagnose(project).found).toEqual([
      expect.objectContaining({ status: 'ok', message: expect.stringContaining('~/.cursor/hooks.json') as string }),
    ]);
  });

  promiseTest('record/doctor', 'a spool that is refused, and what waits, was dropped or rejected in one', () => {
    const project = makeProject({ '.cursor/x': '' });
    project.run('init', '--record', '--no-instructions');
    const spool = join(project.root, '.colibri', 'spool');
    mkdirSync(spool, { mode: 0o700 });
    const name = '1794831437178-18664-71ace029d381c0fc.json';
    for (const file of [name, `${name}.rejected`, 'dropped']) writeFileSync(join(spool, file), '..', { mode: 0o600 });
    expect(diagnose(project).found.map(({ status, message }) => `${status} ${message.split(' in ')[0]}`)).toEqual([
      expect.stringMatching(/^ok \.cursor\/hooks\.json: /),
      'warn 1 event',
      'warn 2 events lost: no space or no time to store them',
      'warn 1 file',
    ]);
    chmodSync(spool, 0o755);
    const { code, found } = diagnose(project);
    expect(code).toBe(1);
    expect(found.map(({ status }) => status)).toEqual(['fail', 'fail']);
    expect(found[0]?.message).toContain('open to other users');
    expect(readdirSync(spool)).toHaveLength(3);
  });
});
