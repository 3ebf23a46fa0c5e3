import { resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { CLIENTS } from '../../src/cli/init/clients.ts';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

const PROGRAM = resolve('dist/colibri.cjs');
const OTHER = { command: 'npx', args: ['-y', 'another-server'], env: { A: 'b' } };

describe('colibri init says what is left to do', () => {
  promiseTest('init/next-steps', 'for every client, in a project and in the home folder', () => {
    const project = makeProject();
    for (const isGlobal of [false, true]) {
      const clients = CLIENTS.filter((client) => (isGlobal ? client.global : client.project).length > 0);
      const { stdout } = project.run('init', ...(isGlobal ? ['--global'] : []), ...clients.map(({ id }) => id));
      const place = isGlobal ? 'in a project' : 'in this folder';
      const steps = clients.map(({ name, nextStep }) => `  ${name}: ${nextStep.replace('in this folder', place)}\n`);
      for (const step of steps) expect(stdout.split('\nTo connect:\n')[1]).toContain(step);
    }
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
    expect(project.read('.mcp.json')).toContain('another-server');
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
    expect(project.readJson('.mcp.json')).toHaveProperty('mcpServers.colibri.env.COLIBRI_AGENT_ID', 'claude-code#');
    expect(project.readJson('.cursor/mcp.json')).toHaveProperty('mcpServers.colibri.env.COLIBRI_AGENT_ID', 'cursor#');
    expect(project.readJson('.vscode/mcp.json')).toHaveProperty('servers.colibri.env.COLIBRI_AGENT_ID', 'vscode#');
    expect(project.readJson('opencode.json')).toHaveProperty('mcp.colibri.environment.COLIBRI_AGENT_ID', 'opencode#');
    expect(project.read('.codex/config.toml')).toContain('\nenv = { COLIBRI_AGENT_ID = "codex#" }\n');
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
