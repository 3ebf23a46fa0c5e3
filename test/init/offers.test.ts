import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { CLIENTS } from '../../src/cli/init/clients.ts';
import { INSTRUCTIONS } from '../../src/cli/init/instructions.ts';
import { makeProject } from '../support/init-project.ts';
import { promiseTest } from '../support/promise-test.ts';

const PROGRAM = resolve('dist/colibri.cjs');
const LINES = INSTRUCTIONS.join('\n');
const OTHER = { command: 'npx', args: ['-y', 'somebody-else'], env: { A: 'b' } };

type Project = ReturnType<typeof makeProject>;

/** Standard input and output say that they are terminals. */
function initOnTerminal(project: Project, answer: string, ...args: string[]) {
  const pretend =
    'for (const stream of [process.stdin, process.stdout]) Object.assign(stream, { isTTY: true, hasColors: () => false });';
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  return spawnSync(process.execPath, [...preload, PROGRAM, 'init', ...args], {
    cwd: project.root,
    env: { PATH: process.env['PATH'] ?? '', HOME: project.home, NO_COLOR: '1' },
    input: `${answer}\n`,
    encoding: 'utf8',
  });
}

describe('colibri init says what is left to do', () => {
  for (const { id, name, nextStep, project: files } of CLIENTS)
    promiseTest('init/next-steps', `for ${name}`, () => {
      const project = makeProject();
      const { stdout } = project.run('init', id, ...(files.length === 0 ? ['--global'] : []));
      expect(stdout).toContain(`\nTo connect:\n  ${name}: ${nextStep}\n`);
    });

  promiseTest('init/next-steps', 'also if everything was set up before', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    project.run('init');
    expect(project.run('init').stdout).toMatch(/Already set up; nothing changed\.\nTo connect:\n {2}Claude Code: /);
  });

  for (const [what, files, args] of [
    ['a client without a project file', {}, ['windsurf']],
    ['a foreign entry', { '.mcp.json': '{"mcpServers": {"colibri": {"command": "x"}}}' }, ['claude-code']],
  ] as const)
    promiseTest('init/next-steps', `never claims to be set up: ${what}`, () => {
      const project = makeProject(files);
      for (const closing of ['No client is connected.', 'Nothing was changed, and no client is connected.']) {
        const { stdout } = project.run('init', ...args);
        expect(stdout).toContain(`\n${closing}\n`);
        expect(stdout).not.toMatch(/set up|To connect|Done/);
      }
    });
});

describe('colibri init --instructions', () => {
  const FILES: [string, Record<string, string>, string][] = [
    ['CLAUDE.md', { 'CLAUDE.md': '# Rules\n\nBe kind.\n' }, `# Rules\n\nBe kind.\n\n${LINES}\n`],
    ['CLAUDE.md', { 'CLAUDE.md': 'no line break' }, `no line break\n\n${LINES}\n`],
    ['CLAUDE.md', { 'CLAUDE.md': '' }, `${LINES}\n`],
    ['CLAUDE.md', { 'CLAUDE.md': 'a\r\nb\r\n' }, `a\r\nb\r\n\r\n${LINES.replaceAll('\n', '\r\n')}\r\n`],
    ['CLAUDE.md', { '.mcp.json': '{}' }, `${LINES}\n`],
    ['AGENTS.md', { '.cursor/x': '' }, `${LINES}\n`],
    ['AGENTS.md', { '.cursor/x': '', 'AGENTS.md': '\uFEFF# Ä\n' }, `\uFEFF# Ä\n\n${LINES}\n`],
    ['GEMINI.md', { '.gemini/x': '' }, `${LINES}\n`],
    ['QWEN.md', { '.qwen/x': '' }, `${LINES}\n`],
  ];
  for (const [path, files, expected] of FILES)
    promiseTest('init/instructions', `appends to ${path}, and undo restores ${JSON.stringify(files)}`, () => {
      const project = makeProject(files);
      const before = project.snapshot();
      const { code, stdout } = project.run('init', '--instructions');
      expect(code).toBe(0);
      expect(stdout).toContain('+Work is tracked with Colibri');
      expect(project.read(path)).toBe(expected);
      const once = project.snapshot();
      project.run('init', '--instructions');
      expect(project.snapshot()).toEqual(once);
      project.run('init', '--undo');
      expect(project.snapshot()).toEqual(before);
    });

  promiseTest('init/instructions', 'does not repeat them in a CLAUDE.md that includes AGENTS.md', () => {
    const project = makeProject({ 'CLAUDE.md': '@AGENTS.md\n', '.cursor/x': '' });
    project.run('init', '--instructions');
    expect(project.read('CLAUDE.md')).toBe('@AGENTS.md\n');
    expect(project.read('AGENTS.md')).toBe(`${LINES}\n`);
  });

  promiseTest('init/instructions', 'writes them once if one file is a link to the other', () => {
    const project = makeProject({ 'AGENTS.md': 'mine\n', '.cursor/x': '' });
    symlinkSync('AGENTS.md', join(project.root, 'CLAUDE.md'));
    const before = project.snapshot();
    expect(project.run('init', '--instructions').code).toBe(0);
    expect(project.read('CLAUDE.md')).toBe(`mine\n\n${LINES}\n`);
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/inside', 'refuses a link out of the project only if asked to write it', () => {
    const project = makeProject({}, { 'CLAUDE.md': 'of all projects\n' });
    symlinkSync(join(project.home, 'CLAUDE.md'), join(project.root, 'CLAUDE.md'));
    const { code, stderr } = project.run('init', '--instructions');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('a link out of the project') as string,
    });
    const { code: plain, stdout } = project.run('init');
    expect({ plain, stdout }).toEqual({
      plain: 0,
      stdout: expect.stringContaining('a link out of the project') as string,
    });
    expect(readFileSync(join(project.home, 'CLAUDE.md'), 'utf8')).toBe('of all projects\n');
  });

  promiseTest('init/refuses', '--instructions together with --global', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    const before = project.snapshot();
    expect(project.run('init', '--global', '--instructions', 'claude-code').code).toBe(1);
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/instructions', 'undo keeps what the user added around them', () => {
    const project = makeProject({ 'CLAUDE.md': 'before\n' });
    project.run('init', '--instructions');
    project.put('CLAUDE.md', `${project.read('CLAUDE.md')}after\n`);
    project.run('init', '--undo');
    expect(project.read('CLAUDE.md')).toBe('before\n\nafter\n');
  });

  promiseTest('init/instructions', 'undo keeps lines that the user changed', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    project.run('init', '--instructions');
    const changed = project.read('CLAUDE.md').replace('create one', 'ask me');
    project.put('CLAUDE.md', changed);
    expect(project.run('init', '--undo').stdout).toContain('CLAUDE.md: the lines about Colibri have been modified');
    expect(project.read('CLAUDE.md')).toBe(changed);
  });

  promiseTest('init/instructions', 'undo ignores a record that names another file', () => {
    const record = {
      v: 1,
      files: [],
      instructions: [{ path: 'notes.md', created: true, sha256: '', undo: [] }],
      skills: [],
      folders: [],
    };
    const project = makeProject({ '.colibri/init.json': JSON.stringify(record), 'notes.md': `${LINES}\n` });
    project.run('init', '--undo');
    expect(project.read('notes.md')).toBe(`${LINES}\n`);
  });

  for (const [what, args, isNamed] of [
    ['without a terminal, names the option', [], true],
    ['with --no-instructions, says nothing', ['--no-instructions'], false],
    ['with --dry-run, names the option', ['--dry-run'], true],
  ] as const)
    promiseTest('init/instructions', `writes nothing ${what}`, () => {
      const project = makeProject({ 'CLAUDE.md': 'mine\n' });
      expect(project.run('init', ...args).stdout.includes('--instructions')).toBe(isNamed);
      expect(project.read('CLAUDE.md')).toBe('mine\n');
    });

  for (const [answer, isWritten] of [
    ['y', true],
    ['yes', true],
    ['n', false],
    ['', false],
    ['maybe', false],
  ] as const)
    promiseTest('init/instructions', `asks on a terminal; ${JSON.stringify(answer)} means ${isWritten}`, () => {
      const project = makeProject({ 'CLAUDE.md': '' });
      const { status, stdout, stderr } = initOnTerminal(project, answer);
      expect(status).toBe(0);
      expect(stdout).toContain(`  ${INSTRUCTIONS[3]}`);
      expect(stderr).toContain('Add them to CLAUDE.md? [y/N]');
      expect(project.read('CLAUDE.md')).toBe(isWritten ? `${LINES}\n` : '');
      expect(project.readJson('.mcp.json')).toHaveProperty('mcpServers.colibri');
    });

  promiseTest('init/instructions', 'asks nothing on a terminal if the lines are there', () => {
    const project = makeProject({ 'CLAUDE.md': `${LINES}\n` });
    expect(initOnTerminal(project, '').stderr).toBe('');
  });
});

describe('colibri init --replace', () => {
  const JSON_FILES = [
    JSON.stringify({ mcpServers: { colibri: OTHER } }),
    JSON.stringify({ mcpServers: { colibri: OTHER, z: {} } }, undefined, 2),
    `{\n\t// mine\n\t"mcpServers": {\n\t\t"colibri": {"command": "x"}, // why\n\t\t"z": {}\n\t}\n}\n`,
    '{"mcpServers": {"colibri": null}}',
    '{"mcpServers": {"colibri": "npx -y x"}}',
  ];
  for (const text of JSON_FILES)
    promiseTest('init/replace', `puts its own entry in ${text.slice(0, 60)}, and undo brings the old one back`, () => {
      const project = makeProject({ '.mcp.json': text });
      const before = project.snapshot();
      expect(project.run('init', '--replace')).toMatchObject({ code: 0, stderr: '' });
      expect(project.read('.mcp.json')).toContain(JSON.stringify(PROGRAM));
      expect(project.read('.mcp.json').includes('// why')).toBe(text.includes('// why'));
      project.run('init', '--undo');
      expect(project.snapshot()).toEqual(before);
    });

  const TOML_FILES = [
    '[mcp_servers.colibri]\ncommand = "x"\n',
    'model = "m"\n\n[mcp_servers.colibri]\ncommand = "x"\nargs = [ "y" ]\n\n[mcp_servers.colibri.env]\nA = "b"\n\n[mcp_servers.z]\ncommand = "z"\n',
  ];
  for (const text of TOML_FILES)
    promiseTest(
      'init/replace',
      `puts its own table in ${JSON.stringify(text.slice(0, 40))}, and undo restores it`,
      () => {
        const project = makeProject({ '.codex/config.toml': text });
        const before = project.snapshot();
        expect(project.run('init', '--replace')).toMatchObject({ code: 0, stderr: '' });
        expect(project.read('.codex/config.toml')).toContain(JSON.stringify(PROGRAM));
        expect(project.read('.codex/config.toml')).not.toMatch(/"x"|A = /);
        expect(project.read('.codex/config.toml').includes('[mcp_servers.z]')).toBe(text.includes('.z]'));
        project.run('init', '--undo');
        expect(project.snapshot()).toEqual(before);
      },
    );

  promiseTest('init/replace', 'brings the old entry back into a file that was changed since', () => {
    const project = makeProject({ '.mcp.json': JSON.stringify({ mcpServers: { colibri: OTHER } }) });
    project.run('init', '--replace');
    project.put('.mcp.json', `// later\n${project.read('.mcp.json')}`);
    project.run('init', '--undo');
    expect(project.read('.mcp.json')).toContain('// later');
    expect(project.read('.mcp.json')).toContain('somebody-else');
  });

  for (const text of ['[mcp_servers]\ncolibri = { command = "x" }\n', 'mcp_servers.colibri.command = "x"\n'])
    promiseTest('init/refuses', `to replace ${JSON.stringify(text)}, which is no table of its own`, () => {
      const project = makeProject({ '.codex/config.toml': text });
      const before = project.snapshot();
      const { code, stderr } = project.run('init', '--replace');
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('edit it by hand') as string });
      expect(project.snapshot()).toEqual(before);
    });

  promiseTest('init/replace', 'is not needed for an entry of an earlier init, which is updated', () => {
    const project = makeProject({ 'CLAUDE.md': '', '.cursor/mcp.json': '{ }' });
    const before = project.snapshot();
    project.run('init', '--published');
    project.run('init');
    for (const path of ['.mcp.json', '.cursor/mcp.json'])
      expect(project.readJson(path)).toHaveProperty('mcpServers.colibri.args', [PROGRAM]);
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });
});

describe('colibri init --agent-ids', () => {
  promiseTest('init/agent-ids', 'in the format of each client, and undo removes them', () => {
    const project = makeProject({
      'CLAUDE.md': '',
      '.cursor/x': '',
      '.codex/x': '',
      '.opencode/x': '',
      '.vscode/x': '',
    });
    const before = project.snapshot();
    expect(project.run('init', '--agent-ids').code).toBe(0);
    expect(project.readJson('.mcp.json')).toHaveProperty('mcpServers.colibri.env.COLIBRI_AGENT_ID', 'claude-code');
    expect(project.readJson('.cursor/mcp.json')).toHaveProperty('mcpServers.colibri.env.COLIBRI_AGENT_ID', 'cursor');
    expect(project.readJson('.vscode/mcp.json')).toHaveProperty('servers.colibri.env.COLIBRI_AGENT_ID', 'vscode');
    expect(project.readJson('opencode.json')).toHaveProperty('mcp.colibri.environment.COLIBRI_AGENT_ID', 'opencode');
    expect(project.read('.codex/config.toml')).toContain('\nenv = { COLIBRI_AGENT_ID = "codex" }\n');
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/agent-ids', 'without a record, undo still knows its own entry', () => {
    const project = makeProject({ '.mcp.json': '{"mcpServers": {"a": {}}}', '.codex/config.toml': 'model = "m"\n' });
    project.run('init', '--agent-ids');
    for (const path of ['.mcp.json', '.codex/config.toml']) project.put(path, `${project.read(path)}\n`);
    project.run('init', '--undo');
    expect(project.readJson('.mcp.json')).toEqual({ mcpServers: { a: {} } });
    expect(project.read('.codex/config.toml')).not.toContain('colibri');
  });

  promiseTest('init/agent-ids', 'writes none into a file that two clients share', () => {
    const project = makeProject({ 'CLAUDE.md': '', '.github/copilot-instructions.md': '' });
    const before = project.snapshot();
    const { code, stdout } = project.run('init', '--agent-ids');
    expect(code).toBe(0);
    expect(stdout).toContain('Claude Code, Copilot CLI: no agent id in .mcp.json, which they share');
    expect(project.readJson('.mcp.json')).toEqual({
      mcpServers: { colibri: { command: process.execPath, args: [PROGRAM] } },
    });
    expect(project.run('init', '--undo', 'copilot').stdout).toContain('was written for claude-code');
    expect(project.readJson('.mcp.json')).toHaveProperty('mcpServers.colibri');
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });
});
