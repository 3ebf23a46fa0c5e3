import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

const HOOK = `${process.execPath} ${resolve('dist/colibri.cjs')} hook`;

type HookMap = Record<string, Record<string, unknown>[]>;

function hooksOf(project: ReturnType<typeof makeProject>, path: string): HookMap {
  return (project.readJson(path) as { hooks: HookMap }).hooks;
}

describe('colibri init --record', () => {
  const CLAUDE = `{
\t// mine
\t"permissions": { "allow": [] },
\t"hooks": {
\t\t"PostToolUse": [
\t\t\t{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "prettier" }] }, // format
\t\t],
\t\t"Stop": []
\t}
}`;

  promiseTest('record/merges', 'hooks of others, comments, tabs and line ends', () => {
    for (const text of [CLAUDE, CLAUDE.replaceAll('\n', '\r\n')]) {
      const project = makeProject({ '.claude/settings.local.json': text });
      const before = project.snapshot();
      project.run('init', '--record', '--no-instructions');
      const after = project.read('.claude/settings.local.json');
      expect(after).toContain('// mine');
      expect(after).toContain('// format');
      expect(after.includes('\r\n') && /[^\r]\n/.test(after)).toBe(false);
      const lines = after.split('\n').map((line) => line.trim());
      expect(lines.filter((line) => text.includes(line)).length).toBeGreaterThan(8);
      expect(lines).toContain(
        '{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "prettier" }] }, // format',
      );
      project.run('init', '--undo');
      expect(project.snapshot()).toEqual(before);
    }
  });

  promiseTest('record/undo', 'empty files, empty lists, trailing commas and a byte order mark', () => {
    const projects = [
      ['', '\n', '{}', '{ }'],
      ['{"hooks":{}}', '{"hooks": {"Stop": [ ]}}', '{"hooks":{"Stop":[1,2,],},}', '\uFEFF{"a":1}'],
    ];
    const paths = ['.claude/settings.local.json', '.cursor/hooks.json', '.codex/hooks.json', '.windsurf/hooks.json'];
    for (const texts of projects) {
      const project = makeProject(Object.fromEntries(paths.map((path, at) => [path, texts[at] ?? ''])));
      const before = project.snapshot();
      project.run('init', '--record', '--no-instructions');
      for (const [at, path] of paths.entries()) {
        const written = project.read(path);
        expect(written, path).toContain(HOOK);
        expect(written.startsWith('\uFEFF')).toBe(texts[at]?.startsWith('\uFEFF'));
      }
      project.run('init', '--undo');
      expect(project.snapshot()).toEqual(before);
    }
  });

  promiseTest('record/undo', 'a file with the server and the hooks, written in one step or in several', () => {
    for (const steps of [[['--record']], [[], ['--record']], [['--record'], ['--agent-ids'], []]]) {
      const project = makeProject({
        '.gemini/settings.json': '{ "theme": "x",\n "hooks": {"disabled": [], "enabled": true} }',
      });
      const before = project.snapshot();
      for (const step of steps) project.run('init', '--no-instructions', ...step);
      expect(project.readJson('.gemini/settings.json')).toMatchObject({
        mcpServers: { colibri: {} },
        hooks: { disabled: [], enabled: true, AfterTool: [{ matcher: '*' }] },
      });
      project.run('init', '--undo');
      expect(project.snapshot()).toEqual(before);
    }
  });

  promiseTest('record/undo', 'a file that two clients read, for the one that it was written for', () => {
    for (const client of ['vscode', 'copilot']) {
      const project = makeProject();
      project.run('init', '--record', '--no-instructions', client);
      expect(project.read('.github/hooks/colibri.json')).toContain(HOOK);
      expect(project.run('init', '--undo', client).stdout).not.toContain('was written for');
      expect(Object.keys(project.snapshot()).filter((path) => /\.github|\.mcp/.test(path))).toEqual([]);
    }
  });

  promiseTest('record/undo', 'keeps later changes of the user', () => {
    const project = makeProject({ 'CLAUDE.md': '', '.cursor/x': '', '.gemini/settings.json': '{}' });
    project.run('init', '--record', '--no-instructions');
    const claude = project.read('.claude/settings.local.json');
    const later = '{ "hooks": [{ "type": "command", "command": "notify" }] }';
    project.put('.claude/settings.local.json', claude.replace('"Stop": [', `"Stop": [${later}, `));
    project.put('.cursor/hooks.json', `// a note\n${project.read('.cursor/hooks.json')}`);
    project.put('.gemini/settings.json', project.read('.gemini/settings.json').replace('{', '{ "theme": "x",'));
    project.run('init', '--undo');
    expect(project.readJson('.claude/settings.local.json')).toEqual({ hooks: { Stop: [JSON.parse(later)] } });
    expect(project.read('.cursor/hooks.json')).toMatch(/^\/\/ a note\n\{\s*"version": 1\s*\}\s*$/);
    expect(project.readJson('.gemini/settings.json')).toEqual({ theme: 'x' });
  });

  promiseTest(
    'record/merges',
    'replaces the hooks of an earlier program, and those of others only with --replace',
    () => {
      const foreign = { hooks: [{ type: 'command', command: 'npx colibri-mcp hook' }] };
      const shared = {
        hooks: [
          { type: 'command', command: 'colibri hook' },
          { type: 'command', command: 'notify' },
        ],
      };
      const own = JSON.stringify({ hooks: { Stop: [foreign, shared] } });
      const project = makeProject({ '.claude/settings.local.json': own });
      const { stdout } = project.run('init', '--record', '--no-instructions');
      expect(stdout).toContain('.claude/settings.local.json has a hook of Colibri that init did not write');
      expect(project.read('.claude/settings.local.json')).toBe(own);
      project.run('init', '--record', '--replace', '--no-instructions');
      const stop = hooksOf(project, '.claude/settings.local.json')['Stop'];
      expect(stop).toEqual([shared, { hooks: [{ type: 'command', command: HOOK, timeout: 5 }] }]);
      project.run('init', '--undo');
      expect(project.read('.claude/settings.local.json')).toBe(own);
      const updated = makeProject({ '.codex/x': '' });
      updated.run('init', '--record', '--published', '--no-instructions');
      expect(updated.read('.codex/hooks.json')).toContain('npx -y colibri-mcp@');
      updated.run('init', '--no-instructions');
      expect(updated.read('.codex/hooks.json')).not.toContain('npx');
      expect(hooksOf(updated, '.codex/hooks.json')['Stop']).toHaveLength(1);
      updated.run('init', '--undo');
      expect(
        Object.keys(updated.snapshot()).filter((path) => path.includes('.colibri') || path.endsWith('.json')),
      ).toEqual([]);
    },
  );

  promiseTest('record/merges', 'without --record no hook is registered', () => {
    const project = makeProject({ 'CLAUDE.md': '', '.cursor/hooks.json': '{"version": 1}', '.opencode/x': '' });
    project.run('init', '--no-instructions');
    expect(project.read('.cursor/hooks.json')).toBe('{"version": 1}');
    expect(Object.keys(project.snapshot()).filter((path) => /settings\.local|plugins/.test(path))).toEqual([]);
  });

  const BROKEN: [string, Record<string, string>, RegExp][] = [
    ['truncated JSON', { '.claude/settings.local.json': '{"hooks": {' }, /settings\.local\.json: line 1: /],
    [
      'a list of hooks that is none',
      { '.cursor/hooks.json': '{"hooks": {"stop": {}}}' },
      /"hooks\.stop" is not a list/,
    ],
    ['hooks that are a list', { '.cursor/hooks.json': '{"hooks": []}' }, /"hooks" is a list, not an object/],
    ['hooks that are a text', { '.codex/hooks.json': '{"hooks": "x"}' }, /"hooks" is a text, not an object/],
    ['two members of one name', { '.codex/hooks.json': '{"hooks": {}, "hooks": {}}' }, /the key "hooks" twice/],
    ['no object', { '.windsurf/hooks.json': '"x"' }, /is not a JSON object/],
    ['a file in place of a folder', { 'CLAUDE.md': '', '.claude': 'x' }, /cannot write \.claude\//],
    ['a folder in place of the file', { '.cursor/hooks.json/x': '' }, /is not a regular file/],
  ];
  for (const [name, files, message] of BROKEN)
    promiseTest('record/refuses', name, () => {
      const project = makeProject({ ...files, '.vscode/x': '' });
      const before = project.snapshot();
      const { code, stdout, stderr } = project.run('init', '--record');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(message);
      expect(project.snapshot()).toEqual(before);
    });

  promiseTest('record/refuses', 'a link out of the project, and undoes nothing behind one', () => {
    const project = makeProject({ 'CLAUDE.md': '' }, { 'settings.json': '{}' });
    mkdirSync(join(project.root, '.claude'));
    symlinkSync(join(project.home, 'settings.json'), join(project.root, '.claude', 'settings.local.json'));
    const before = project.snapshot();
    expect(project.run('init', '--record')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is a link out of the project') as string,
    });
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('record/refuses', 'a file that cannot be written, with every other file as it was', () => {
    // Root writes to files without permission, but not to a folder that is none.
    const project = makeProject({ 'CLAUDE.md': '', '.cursor/x': '', '.opencode/plugins': 'a file' });
    chmodSync(join(project.root, '.opencode/plugins'), 0o400);
    const before = project.snapshot();
    expect(project.run('init', '--record').code).toBe(1);
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('record/undo', 'a broken file of hooks that init did not write stops nothing', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    project.run('init', '--record', '--no-instructions');
    project.put('.cursor/hooks.json', '{"hooks": ');
    const { code, stdout } = project.run('init', '--undo');
    expect(code).toBe(0);
    expect(stdout).toContain('Cursor: .cursor/hooks.json: line 1');
    expect(Object.keys(project.snapshot()).filter((path) => /\.claude|\.mcp/.test(path))).toEqual([]);
  });
});
