import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

interface Checked {
  readonly ok: boolean;
  readonly checks: { check: string; status: string; message: string; fix?: string }[];
}

type Project = ReturnType<typeof makeProject>;

const { version: VERSION } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
/** Leaves a trace that it ran. */
const MARK = 'require("node:fs").writeFileSync("ran", "")';

/** Clients with the same format, and their files: one run of doctor tests an entry for each. */
const IN_HOME = [
  ['claude-code', '.claude.json'],
  ['cursor', '.cursor/mcp.json'],
  ['gemini', '.gemini/settings.json'],
  ['kiro', '.kiro/settings/mcp.json'],
  ['windsurf', '.codeium/windsurf/mcp_config.json'],
  ['copilot', '.copilot/mcp-config.json'],
  ['qwen', '.qwen/settings.json'],
  ['cline', '.cline/data/settings/cline_mcp_settings.json'],
] as const;
const IN_PROJECT = [
  ['claude-code', '.mcp.json'],
  ['cursor', '.cursor/mcp.json'],
  ['gemini', '.gemini/settings.json'],
  ['kiro', '.kiro/settings/mcp.json'],
  ['qwen', '.qwen/settings.json'],
  ['roo', '.roo/mcp.json'],
  ['zed', '.zed/settings.json'],
] as const;

function configure(clients: readonly (readonly [string, string])[], entries: readonly unknown[]) {
  expect(entries).toHaveLength(clients.length);
  const files = clients.map(([id, path], index) => {
    const servers = { colibri: entries[index] };
    return [path, JSON.stringify(id === 'zed' ? { context_servers: servers } : { mcpServers: servers })];
  });
  return Object.fromEntries(files) as Record<string, string>;
}

function initialized(): Project {
  const project = makeProject();
  project.run('init', 'claude-code');
  return project;
}

function diagnose(project: Project) {
  const { code, stdout, stderr } = project.run('doctor', '--json');
  const { ok, checks } = JSON.parse(stdout) as Checked;
  expect({ stderr, ok }).toEqual({ stderr: '', ok: code === 0 });
  return { code, find: (name: string) => checks.filter(({ check }) => check === name) };
}

describe('colibri doctor', () => {
  promiseTest('doctor/starts', 'the program that init configured, and names what answered', () => {
    const { code, find } = diagnose(initialized());
    expect(code).toBe(0);
    expect(find('claude-code')).toEqual([
      {
        check: 'claude-code',
        status: 'ok',
        message: `.mcp.json starts ${process.execPath} ${resolve('dist/colibri.cjs')}: colibri ${VERSION} answers`,
      },
    ]);
  });

  promiseTest('doctor/starts', 'a broken link instead of a configuration is a failure', () => {
    const project = makeProject();
    symlinkSync(join(project.root, 'gone.json'), join(project.root, '.mcp.json'));
    const { code, find } = diagnose(project);
    expect([code, find('claude-code')]).toMatchObject([1, [{ status: 'fail' }]]);
    expect(find('claude-code')[0]?.message).toMatch(/\.mcp\.json is a broken link$/);
  });

  promiseTest('doctor/starts', 'clients that are configured in the home folder only', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    project.run('init', '--global', 'windsurf', 'cline', 'claude-code');
    const { code, find } = diagnose(project);
    expect(code).toBe(0);
    for (const [client, path] of [
      ['claude-code', '~/.claude.json'],
      ['windsurf', '~/.codeium/windsurf/mcp_config.json'],
      ['cline', '~/.cline/data/settings/cline_mcp_settings.json'],
    ] as const)
      expect(find(client)).toMatchObject([
        { status: 'ok', message: expect.stringMatching(`^${path} starts .* answers$`) },
      ]);
  });

  const PROGRAMS: [string, readonly string[], RegExp, string][] = [
    ['a command that does not exist', ['no-such-program'], /ENOENT/, 'fail'],
    [
      'a program that exits',
      ['node', '-e', 'console.error("first"); console.error("broken"); process.exit(3)'],
      /: it exited with 3: broken$/,
      'fail',
    ],
    ['a program that exits without a word', ['node', '-e', 'process.exit(243)'], /: it exited with 243$/, 'fail'],
    [
      'a program that is killed',
      ['node', '-e', 'process.kill(process.pid, "SIGKILL")'],
      /: it was ended by SIGKILL$/,
      'fail',
    ],
    [
      'text before the protocol',
      ['node', '-e', 'console.log("> hello"); setInterval(() => {}, 1000)'],
      /writes text to stdout before the protocol: > hello$/,
      'fail',
    ],
    [
      'an answer that is not a result',
      ['node', '-e', 'console.log(JSON.stringify({error:{message:"no"}})); setInterval(() => {}, 1000)'],
      /it refused the handshake: no$/,
      'fail',
    ],
    [
      'another server',
      [
        'node',
        '-e',
        'console.log(JSON.stringify({result:{serverInfo:{name:"other",version:"1"}}})); setInterval(() => {}, 1000)',
      ],
      /answers as other$/,
      'warn',
    ],
    ['an entry without a command', [], / has a colibri entry without a command, not tested$/, 'warn'],
  ];
  promiseTest('doctor/starts', 'reports what it saw instead of a server, for each client', () => {
    const project = makeProject(
      {},
      configure(
        IN_HOME,
        PROGRAMS.map(([, [command, ...args]]) => ({ command, args })),
      ),
    );
    const { code, find } = diagnose(project);
    expect(code).toBe(1);
    for (const [index, [what, , message, status]] of PROGRAMS.entries())
      expect(find(IN_HOME[index]?.[0] ?? ''), what).toMatchObject([
        {
          status,
          message: expect.stringMatching(message) as string,
          fix: `run colibri init --replace --global ${IN_HOME[index]?.[0]}`,
        },
      ]);
  });

  promiseTest('doctor/starts', 'an entry that Cline itself wrote', () => {
    const transport = { type: 'stdio', command: process.execPath, args: [resolve('dist/colibri.cjs')] };
    const text = JSON.stringify({ mcpServers: { colibri: { transport } } });
    const project = makeProject({}, { '.cline/data/settings/cline_mcp_settings.json': text });
    expect(diagnose(project).find('cline')).toMatchObject([{ status: 'ok' }]);
  });

  promiseTest('doctor/starts', 'an entry in which the client has stored settings, unless it is switched off', () => {
    const entry = {
      command: process.execPath,
      args: [resolve('dist/colibri.cjs')],
      alwaysAllow: ['task_list'],
      env: {},
    };
    const servers = (colibri: object) => JSON.stringify({ mcpServers: { colibri } });
    const project = makeProject({
      '.roo/mcp.json': servers({ ...entry, disabled: false }),
      '.kiro/settings/mcp.json': servers({ ...entry, disabled: true }),
    });
    const { find } = diagnose(project);
    expect(find('roo')).toMatchObject([{ status: 'ok' }]);
    expect(find('kiro')).toMatchObject([
      { status: 'warn', message: '.kiro/settings/mcp.json has colibri switched off, not tested' },
    ]);
  });

  promiseTest('doctor/starts', 'reports a variable that the server refuses', () => {
    const entry = { command: process.execPath, args: [resolve('dist/colibri.cjs')], env: { COLIBRI_MODE: 'LOUD' } };
    const project = makeProject(
      { 'CLAUDE.md': '' },
      { '.claude.json': JSON.stringify({ mcpServers: { colibri: entry } }) },
    );
    expect(diagnose(project).find('claude-code')[0]?.message).toMatch(/it exited with 78: colibri: ERR_INVALID_MODE/);
  });

  const PLANTED: [string, unknown][] = [
    ['another program', { command: 'node', args: ['-e', MARK] }],
    ['a shell', { command: 'sh', args: ['-c', 'touch ran'] }],
    ['a published name', { command: 'npx', args: ['-y', 'colibri-mcp'] }],
    [
      'this program with an option of Node',
      { command: process.execPath, args: ['--eval', MARK, resolve('dist/colibri.cjs')] },
    ],
    [
      'this program with a variable',
      { command: process.execPath, args: [resolve('dist/colibri.cjs')], env: { NODE_OPTIONS: '--require ./ran.cjs' } },
    ],
    ['this program with another Node', { command: './node', args: [resolve('dist/colibri.cjs')] }],
    ['this program with another field', { command: process.execPath, args: [resolve('dist/colibri.cjs')], cwd: '/' }],
  ];
  promiseTest('doctor/untrusted', `starts no command that a project's file names and init would not write`, () => {
    const project = makeProject({
      ...configure(
        IN_PROJECT,
        PLANTED.map(([, entry]) => entry),
      ),
      'ran.cjs': 'require("node:fs").writeFileSync("ran", "")',
    });
    const before = project.snapshot();
    const { code, find } = diagnose(project);
    expect(code).toBe(0);
    for (const [index, [what]] of PLANTED.entries())
      expect(find(IN_PROJECT[index]?.[0] ?? ''), what).toMatchObject([
        {
          status: 'warn',
          message: expect.stringContaining(
            'which was not tested, because the file may have come with a clone: ',
          ) as string,
          fix: expect.stringContaining('colibri doctor --run') as string,
        },
      ]);
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('doctor/untrusted', 'starts it with --run', () => {
    const project = makeProject({ '.mcp.json': JSON.stringify({ mcpServers: { colibri: PLANTED[0]?.[1] } }) });
    const { stdout } = project.run('doctor', '--run', '--json');
    expect((JSON.parse(stdout) as Checked).checks.find(({ check }) => check === 'claude-code')?.status).toBe('fail');
    expect(project.read('ran')).toBe('');
  });

  promiseTest('doctor/untrusted', 'starts what an earlier version wrote for this program, with an agent id', () => {
    const entry = { command: 'node', args: [resolve('dist/colibri.js')], env: { COLIBRI_AGENT_ID: 'me' } };
    const project = makeProject({ '.mcp.json': JSON.stringify({ mcpServers: { colibri: entry } }) });
    expect(diagnose(project).find('claude-code')).toMatchObject([{ status: 'ok' }]);
  });

  promiseTest('doctor/untrusted', 'starts an entry to which settings were added, and names other variables', () => {
    const find = (env: Record<string, string>) => {
      const entry = { command: process.execPath, args: [resolve('dist/colibri.cjs')], env };
      const project = makeProject({ '.mcp.json': JSON.stringify({ mcpServers: { colibri: entry } }) });
      return diagnose(project).find('claude-code');
    };
    expect(find({ COLIBRI_PROJECT: 'api' })).toMatchObject([{ status: 'ok' }]);
    for (const name of ['NODE_OPTIONS', 'COLIBRI_DB_PATH', 'COLIBRI_DATABASE_URL'])
      expect(find({ COLIBRI_PROJECT: 'api', [name]: 'x' })).toMatchObject([
        { status: 'warn', message: expect.stringContaining(`starts Colibri with other variables (${name})`) as string },
      ]);
  });
});
