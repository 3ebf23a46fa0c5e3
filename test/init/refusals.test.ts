import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject, runProgram } from './init-project.ts';

describe('colibri init', () => {
  const MALFORMED: [string, Record<string, string | Buffer>, RegExp][] = [
    ['truncated JSON', { '.mcp.json': '{\n  "mcpServers": {' }, /line 2: close brace expected; correct the file/],
    ['no object', { '.mcp.json': '[]' }, /is not a JSON object/],
    [
      'servers that are a list',
      { '.mcp.json': '{"mcpServers": []}' },
      /"mcpServers" is a list, not an object; correct/,
    ],
    ['servers that are null', { '.mcp.json': '{"mcpServers": null}' }, /"mcpServers" is null, not an object; correct/],
    ['two entries for servers', { '.mcp.json': '{"mcpServers": {}, "mcpServers": {}}' }, /the key "mcpServers" twice/],
    [
      'bytes that are not UTF-8',
      { '.mcp.json': Buffer.from([0x7b, 0xff, 0x7d]) },
      /\.mcp\.json: is not valid UTF-8; correct/,
    ],
    ['malformed TOML', { '.codex/config.toml': 'model = ' }, /\.codex\/config\.toml: /],
    ['TOML that cannot take another table', { '.codex/config.toml': 'mcp_servers = {}' }, /\.codex\/config\.toml: /],
    ['a damaged record', { 'CLAUDE.md': '', '.colibri/init.json': '{' }, /init\.json is damaged/],
    [
      'a record that leads out of the project',
      {
        'CLAUDE.md': '',
        '.colibri/init.json': JSON.stringify({ v: 1, files: [], skills: [{ path: '../x', sha256: '' }], folders: [] }),
      },
      /init\.json is damaged/,
    ],
    ['a file instead of a folder', { 'CLAUDE.md': '', '.cursor': 'a file' }, /cannot write \.cursor\/mcp\.json/],
  ];
  for (const [name, files, message] of MALFORMED) {
    promiseTest('init/refuses', name, () => {
      const project = makeProject({ ...files, '.vscode/mcp.json': '{"servers": {}}' });
      const before = project.snapshot();
      const { code, stdout, stderr } = project.run('init');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(project.snapshot()).toEqual(before);
    });
  }

  promiseTest('init/refuses', 'reports as JSON with --json', () => {
    const { code, stdout } = makeProject({ '.mcp.json': '{' }).run('init', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ refused: expect.stringContaining('.mcp.json: line 1') as string });
  });

  promiseTest('init/refuses', 'a folder instead of the file', () => {
    const project = makeProject({ '.mcp.json/x': '' });
    const { code, stderr } = project.run('init', 'claude-code');
    expect(code).toBe(1);
    expect(stderr).toContain('is not a regular file');
  });

  promiseTest('init/refuses', 'an unknown client', () => {
    const project = makeProject();
    const before = project.snapshot();
    const { code, stderr } = project.run('init', 'emacs');
    expect(code).toBe(64);
    expect(stderr).toContain('claude-code');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/refuses', 'to guess a client when none is found', () => {
    const project = makeProject();
    const before = project.snapshot();
    expect(project.run('init')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no client found') as string,
    });
    expect(project.snapshot()).toEqual(before);
  });

  const LINKS: [string, (root: string, home: string) => void][] = [
    ['a file', (root, home) => symlinkSync(join(home, 'target.json'), join(root, '.mcp.json'))],
    ['a folder', (root, home) => symlinkSync(home, join(root, '.cursor'))],
    ['the skills folder', (root, home) => symlinkSync(home, join(root, '.agents'))],
    ['the folder of the record', (root, home) => symlinkSync(home, join(root, '.colibri'))],
  ];
  for (const [name, link] of LINKS) {
    promiseTest('init/inside', `refuses a link out of the project: ${name}`, () => {
      const project = makeProject({ 'CLAUDE.md': '' }, { 'target.json': '{}' });
      link(project.root, project.home);
      const before = project.snapshot();
      const { code, stderr } = project.run('init', 'claude-code', 'cursor');
      expect(code).toBe(1);
      expect(stderr).toContain('is a link out of the project');
      expect(project.snapshot()).toEqual(before);
    });
  }

  for (const [name, folders] of [
    ['a folder behind a link', ['link/empty']],
    ['a link itself', ['link']],
    ['a folder behind two links', ['inner/empty']],
  ] as const) {
    promiseTest('init/inside', `undo removes no folder outside the project: ${name}`, () => {
      const record = { v: 1, files: [], skills: [], folders };
      const project = makeProject({ '.colibri/init.json': JSON.stringify(record) }, { 'x/y': '' });
      mkdirSync(join(project.home, 'empty'));
      symlinkSync(project.home, join(project.root, 'link'));
      symlinkSync('link', join(project.root, 'inner'));
      expect(project.run('init', '--undo').code).toBe(0);
      expect(Object.keys(project.snapshot())).toEqual(
        expect.arrayContaining(['home/empty', 'project/link', 'project/inner']),
      );
    });
  }

  promiseTest('init/undo', 'removes an empty folder of the record, keeps a link within the project', () => {
    const record = { v: 1, files: [], skills: [], folders: ['made', 'linked'] };
    const project = makeProject({ '.colibri/init.json': JSON.stringify(record) });
    for (const name of ['made', 'kept']) mkdirSync(join(project.root, name));
    symlinkSync('kept', join(project.root, 'linked'));
    expect(project.run('init', '--undo').code).toBe(0);
    const left = Object.keys(project.snapshot());
    expect(left).not.toContain('project/made');
    expect(left).toEqual(expect.arrayContaining(['project/kept', 'project/linked']));
  });

  promiseTest('init/refuses', 'a broken link', () => {
    const project = makeProject();
    symlinkSync('gone.json', join(project.root, '.mcp.json'));
    expect(project.run('init', 'claude-code').stderr).toContain('is a broken link');
  });

  promiseTest('init/inside', 'follows a link within the project instead of replacing it', () => {
    const project = makeProject({ 'config/mcp.json': '{}' });
    symlinkSync(join('config', 'mcp.json'), join(project.root, '.mcp.json'));
    expect(project.run('init').code).toBe(0);
    expect(project.readJson('config/mcp.json')).toHaveProperty('mcpServers.colibri');
    expect(project.snapshot()).toHaveProperty(['project/.mcp.json'], 'link to config/mcp.json');
  });

  promiseTest('init/inside', 'refuses the home folder as a project', () => {
    const { home } = makeProject({}, { '.cursor/mcp.json': '{}' });
    expect(runProgram(['init'], { cwd: home, home })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--global') as string,
    });
  });

  promiseTest('init/inside', 'a folder below home without project files is its own project', () => {
    const project = makeProject({}, { '.cursor/mcp.json': '{}' });
    const folder = join(project.home, 'notes');
    mkdirSync(folder);
    runProgram(['init'], { cwd: folder, home: project.home });
    const written = Object.entries(project.snapshot()).filter(([path]) => path.endsWith('mcp.json'));
    expect(written.map(([path]) => path)).toEqual(['home/.cursor/mcp.json', 'home/notes/.cursor/mcp.json']);
    expect(written[0]?.[1]).toContain(Buffer.from('{}').toString('base64'));
  });

  it('leaves no temporary file when writing fails', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    writeFileSync(join(project.root, '.claude'), 'a file');
    const before = project.snapshot();
    expect(project.run('init').code).toBe(1);
    expect(project.snapshot()).toEqual(before);
  });
});
