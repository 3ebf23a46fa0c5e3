import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { CLIENTS, findClient } from '../../src/cli/init/clients.ts';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

/** The tests run the program of a clone. */
const PROGRAM = resolve('dist/colibri.cjs');
const PLAIN = { command: process.execPath, args: [PROGRAM] };

/** A file by which the client is detected, the file it reads, and the expected content. */
const EXPECTED: Record<string, [string, string, unknown]> = {
  'claude-code': ['CLAUDE.md', '.mcp.json', { mcpServers: { colibri: PLAIN } }],
  cursor: ['.cursor/rules/x', '.cursor/mcp.json', { mcpServers: { colibri: PLAIN } }],
  vscode: ['.vscode/settings.json', '.vscode/mcp.json', { servers: { colibri: { type: 'stdio', ...PLAIN } } }],
  gemini: ['GEMINI.md', '.gemini/settings.json', { mcpServers: { colibri: PLAIN } }],
  opencode: [
    '.opencode/x',
    'opencode.json',
    { mcp: { colibri: { type: 'local', command: [process.execPath, PROGRAM] } } },
  ],
  zed: ['.zed/tasks.json', '.zed/settings.json', { context_servers: { colibri: PLAIN } }],
  roo: ['.roo/rules/x', '.roo/mcp.json', { mcpServers: { colibri: PLAIN } }],
  amp: ['.amp/x', '.amp/settings.json', { 'amp.mcpServers': { colibri: PLAIN } }],
  kiro: ['.kiro/steering/x.md', '.kiro/settings/mcp.json', { mcpServers: { colibri: PLAIN } }],
  copilot: ['.github/copilot-instructions.md', '.mcp.json', { mcpServers: { colibri: PLAIN } }],
  qwen: ['.qwen/x', '.qwen/settings.json', { mcpServers: { colibri: PLAIN } }],
  crush: ['.crush/x', 'crush.json', { mcp: { colibri: { type: 'stdio', ...PLAIN } } }],
};

describe('colibri init', () => {
  promiseTest('init/clients', 'by every way to write their names', () => {
    for (const client of CLIENTS)
      for (const text of [client.id, client.name, client.name.toLowerCase(), client.name.replace(' ', '-')])
        expect(findClient(text)?.id, text).toBe(client.id);
    expect(findClient('claude')?.id).toBe('claude-code');
    for (const text of ['', '-', 'code', 'clau', 'cli', 'claude-code-2000x'])
      expect(findClient(text), text).toBeUndefined();
    const project = makeProject({});
    expect(project.run('init', 'claude', 'Claude Code', 'Gemini-CLI')).toMatchObject({ code: 0, stderr: '' });
    expect([project.readJson('.mcp.json'), project.readJson('.gemini/settings.json')]).toEqual([
      { mcpServers: { colibri: PLAIN } },
      { mcpServers: { colibri: PLAIN } },
    ]);
    expect(project.run('init', 'claud')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('Allowed choices are claude-code, cursor, ') as string,
    });
  });

  for (const [id, [mark, path, contents]] of Object.entries(EXPECTED)) {
    promiseTest('init/clients', `${id}, by ${mark}`, () => {
      const project = makeProject({ [mark]: '' });
      expect(project.run('init')).toMatchObject({ code: 0, stderr: '' });
      expect(project.readJson(path)).toEqual(contents);
      const written = Object.keys(project.snapshot()).filter((file) => /\.(?:jsonc?|toml)$/.test(file));
      expect(written.toSorted()).toEqual(
        [
          ...new Set([
            'project/.colibri/init.json',
            `project/${path}`,
            ...(mark.endsWith('.json') ? [`project/${mark}`] : []),
          ]),
        ].toSorted(),
      );
    });
  }

  promiseTest('init/clients', 'this test covers every client with a file in a project', () => {
    const ids = CLIENTS.filter(({ project }) => project.length > 0).map(({ id }) => id);
    expect(ids.toSorted()).toEqual([...Object.keys(EXPECTED), 'codex'].toSorted());
  });

  promiseTest('init/clients', 'the existing file of opencode keeps its layout', () => {
    const project = makeProject({
      'opencode.jsonc': '{"mcp": {"servers": {"a": {"type": "local", "command": ["x"]}}}}',
    });
    project.run('init');
    expect(project.readJson('opencode.jsonc')).toHaveProperty('mcp.servers.colibri.type', 'local');
    expect(existsSync(join(project.root, 'opencode.json'))).toBe(false);
  });

  promiseTest('init/clients', 'clients in the home folder, if the project has none', () => {
    const project = makeProject({}, { '.cursor/x': '', '.codeium/windsurf/x': '' });
    project.run('init');
    expect(project.readJson('.cursor/mcp.json')).toEqual({ mcpServers: { colibri: PLAIN } });
    expect(Object.keys(project.snapshot()).filter((path) => /^home\/.*json$/.test(path))).toEqual([]);
  });

  promiseTest('init/clients', 'only the named clients', () => {
    const project = makeProject({ 'CLAUDE.md': '', '.cursor/x': '' });
    project.run('init', 'kiro');
    expect(Object.keys(project.snapshot()).filter((path) => path.endsWith('mcp.json'))).toEqual([
      'project/.kiro/settings/mcp.json',
    ]);
  });

  promiseTest('init/clients', 'reports a client that has no file in a project', () => {
    expect(makeProject().run('init', 'windsurf').stdout).toContain(
      'Windsurf has no project-wide configuration file; use --global',
    );
  });

  promiseTest('init/inside', '--global writes to the home folder only', () => {
    const project = makeProject({ 'CLAUDE.md': '' }, { '.codex/config.toml': 'model = "m"\n' });
    const before = project.snapshot();
    const named = ['codex', 'windsurf', 'claude-code', 'copilot', 'qwen', 'cline', 'crush'];
    const shown = project.run('init', '--global', ...named);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('colibri init --global --undo to revert it');
    expect(shown.stdout).not.toContain('in this folder');
    const written = Object.keys(project.snapshot()).filter((path) => /\.(?:json|toml)$/.test(path));
    expect(written).toEqual([
      'home/.claude.json',
      'home/.cline/data/settings/cline_mcp_settings.json',
      'home/.codeium/windsurf/mcp_config.json',
      'home/.codex/config.toml',
      'home/.colibri/init.json',
      'home/.config/crush/crush.json',
      'home/.copilot/mcp-config.json',
      'home/.qwen/settings.json',
    ]);
    expect(project.run('init', '--global', '--undo').code).toBe(0);
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/clients', '--published starts this version from the registry, and undo removes the entry', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const project = makeProject({ 'CLAUDE.md': '', '.opencode/x': '', '.codex/x': '' });
    const before = project.snapshot();
    expect(project.run('init', '--published').code).toBe(0);
    const words = ['-y', `colibri-mcp@${version}`];
    expect(project.readJson('.mcp.json')).toEqual({ mcpServers: { colibri: { command: 'npx', args: words } } });
    expect(project.readJson('opencode.json')).toHaveProperty('mcp.colibri.command', ['npx', ...words]);
    expect(project.read('.codex/config.toml')).toContain(`args = [ "-y", "colibri-mcp@${version}" ]`);
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/undo', 'removes an entry of an earlier init that starts node by name', () => {
    const entry = { command: 'node', args: [PROGRAM.replace('.cjs', '.js')] };
    const project = makeProject({ '.mcp.json': JSON.stringify({ mcpServers: { colibri: entry } }) });
    project.run('init', '--undo');
    expect(project.readJson('.mcp.json')).toEqual({ mcpServers: {} });
  });

  for (const name of ['colibri-mcp', 'colibri-mcp@0.0.9', 'colibri-mcp@1.0.0-rc.1+x'])
    promiseTest('init/undo', `removes an entry of an earlier init that starts ${name}`, () => {
      const entry = { command: 'npx', args: ['-y', name] };
      const project = makeProject({ '.mcp.json': JSON.stringify({ mcpServers: { colibri: entry } }) });
      project.run('init', '--undo');
      expect(project.readJson('.mcp.json')).toEqual({ mcpServers: {} });
    });

  for (const entry of [
    { command: 'npx', args: ['-y', 'colibri-mcp-evil'] },
    { command: 'npx', args: ['-y', 'colibri-mcp@'] },
    { command: 'npx', args: ['-y', 'colibri-mcp', 'serve'] },
    { command: 'npx', args: ['-y', 'colibri-mcp'], env: { A: 'b' } },
    { command: 'npx', args: [['-y', 'colibri-mcp']] },
    { command: 'bunx', args: ['-y', 'colibri-mcp'] },
  ])
    promiseTest('init/undo', `keeps an entry that init did not write: ${JSON.stringify(entry)}`, () => {
      const text = JSON.stringify({ mcpServers: { colibri: entry } });
      const project = makeProject({ '.mcp.json': text });
      project.run('init', '--undo');
      expect(project.read('.mcp.json')).toBe(text);
    });

  promiseTest('init/refuses', '--local together with --published', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    const before = project.snapshot();
    expect(project.run('init', '--local', '--published').code).toBe(64);
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/clients', '--local starts this installation, and undo removes the entry', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    const before = project.snapshot();
    project.run('init', '--local');
    expect(project.readJson('.mcp.json')).toEqual({
      mcpServers: { colibri: { command: process.execPath, args: [resolve('dist/colibri.cjs')] } },
    });
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });
});
