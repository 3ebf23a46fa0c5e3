import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject, runProgram } from './init-project.ts';

const CURSOR = `{
  // servers of the team
  "mcpServers": {
    "db": { "command": "db-mcp", "env": { "TOKEN": "secret" } } // read only
  },
}
`;
const CODEX = 'model = "m" # the large one\n\n[mcp_servers.db]\ncommand = "db-mcp"\n';

describe('colibri init', () => {
  promiseTest('init/merges', 'files with comments, other servers and other settings', () => {
    const project = makeProject({ '.cursor/mcp.json': CURSOR, '.codex/config.toml': CODEX });
    expect(project.run('init')).toMatchObject({ code: 0, stderr: '' });
    const after = project.read('.cursor/mcp.json');
    expect(after.replace(/,( \/\/ read only)\n {4}"colibri": \{\n.+\n.+\n {4}\}/, '$1')).toBe(CURSOR);
    expect(project.read('.codex/config.toml')).toBe(
      `${CODEX}\n[mcp_servers.colibri]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [ ${JSON.stringify(resolve('dist/colibri.cjs'))} ]\n`,
    );
  });

  promiseTest('init/merges', 'keeps the byte order mark and the permissions of the file', () => {
    const project = makeProject({ '.mcp.json': '\uFEFF{"mcpServers": {"a": {}}}' });
    chmodSync(join(project.root, '.mcp.json'), 0o640);
    const before = project.snapshot();
    project.run('init');
    expect(project.read('.mcp.json')).toMatch(/^\uFEFF\{"mcpServers": \{"a": \{\}, "colibri": /);
    expect(statSync(join(project.root, '.mcp.json')).mode & 0o777).toBe(0o640);
    project.run('init', '--undo');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('init/merges', 'keeps another entry of the same name', () => {
    const own = '{"mcpServers": {"colibri": {"command": "node", "args": ["mine.js"]}}}';
    const project = makeProject({ '.mcp.json': own });
    expect(project.run('init').stdout).toContain('has another colibri entry, which is left unchanged');
    expect(project.read('.mcp.json')).toBe(own);
    project.run('init', '--undo');
    expect(project.read('.mcp.json')).toBe(own);
  });

  promiseTest('init/merges', 'keeps variables that were added to its entry, and names them', () => {
    const entry = { command: process.execPath, args: [resolve('dist/colibri.cjs')], env: { COLIBRI_PROJECT: 'api' } };
    const project = makeProject({ '.mcp.json': JSON.stringify({ mcpServers: { colibri: entry } }) });
    expect(project.run('init').stdout).toContain(
      'has a colibri entry with other variables (COLIBRI_PROJECT), which is left unchanged',
    );
  });

  promiseTest('init/idempotent', 'no byte and no file', () => {
    const project = makeProject({ '.cursor/mcp.json': CURSOR, '.codex/config.toml': CODEX, 'CLAUDE.md': '' });
    project.run('init');
    const once = project.snapshot();
    const again = project.run('init');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toContain('Already set up; nothing changed.');
    expect(again.stdout.match(/is already set up/g)).toHaveLength(3);
    expect(project.snapshot()).toEqual(once);
  });

  promiseTest('init/undo', 'restores every byte and every folder', () => {
    const project = makeProject({
      '.cursor/mcp.json': CURSOR,
      '.codex/config.toml': CODEX,
      '.vscode/x': '',
      'CLAUDE.md': '',
    });
    const before = project.snapshot();
    project.run('init');
    expect(project.snapshot()).not.toEqual(before);
    expect(project.run('init', '--undo')).toMatchObject({ code: 0, stderr: '' });
    expect(project.snapshot()).toEqual(before);
    expect(project.run('init', '--undo').stdout).toBe('There is nothing to undo.\n');
  });

  for (const text of [
    '{}',
    '{ }',
    '',
    '\n',
    '{"mcpServers":{}}',
    '{\n  "mcpServers": {\n  }\n}',
    '{"mcpServers": {"a": 1 } }',
  ])
    promiseTest('init/undo', `restores ${JSON.stringify(text)} to the byte`, () => {
      const project = makeProject({ '.mcp.json': text });
      project.run('init');
      expect(project.readJson('.mcp.json')).toHaveProperty('mcpServers.colibri.command', process.execPath);
      project.run('init', '--undo');
      expect(project.read('.mcp.json')).toBe(text);
    });

  promiseTest('init/undo', 'keeps later changes of the user', () => {
    const project = makeProject({ 'CLAUDE.md': '', '.cursor/mcp.json': '{}' });
    project.run('init');
    project.put('.mcp.json', project.read('.mcp.json').replace('"colibri": {', '"later": {},\n    "colibri": {'));
    project.put('.cursor/mcp.json', `// a note\n${project.read('.cursor/mcp.json')}`);
    project.run('init', '--undo');
    expect(project.readJson('.mcp.json')).toEqual({ mcpServers: { later: {} } });
    expect(project.read('.cursor/mcp.json')).toMatch(/^\/\/ a note\n\{\s*\}$/);
  });

  promiseTest('init/undo', 'keeps an entry that the user changed', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    project.run('init');
    const changed = project.read('.mcp.json').replace(JSON.stringify(process.execPath), '"nodejs"');
    project.put('.mcp.json', changed);
    expect(project.run('init', '--undo').stdout).toContain('a colibri entry that init did not write');
    expect(project.read('.mcp.json')).toBe(changed);
  });

  promiseTest('init/merges', 'knows its entry when the client has stored settings in it', () => {
    const project = makeProject({ '.roo/x': '', '.codex/x': '' });
    project.run('init');
    const settings = '"type": "stdio", "disabled": false, "alwaysAllow": ["task_list"], "timeout": 60, "env": {}, ';
    const changed = project.read('.roo/mcp.json').replace('"command"', `${settings}"command"`);
    project.put('.roo/mcp.json', changed);
    project.put('.codex/config.toml', `${project.read('.codex/config.toml')}startup_timeout_sec = 20\n`);
    const again = project.run('init').stdout;
    expect(again).toContain('Roo Code: .roo/mcp.json is already set up\n');
    expect(again).toContain('Codex: .codex/config.toml is already set up\n');
    expect(project.read('.roo/mcp.json')).toBe(changed);
    project.put('.roo/mcp.json', changed.replace('"disabled": false', '"disabled": true'));
    expect(project.run('init', '--no-instructions', 'roo').stdout).toMatch(
      /already set up, but colibri is switched off there\nNothing was changed, and no client is connected\.\n$/,
    );
    const formatted = project.read('.codex/config.toml').replace('args = [ ', 'args = [');
    project.put('.codex/config.toml', formatted);
    expect(project.run('init', '--undo').stdout).toContain(
      'has a table [mcp_servers.colibri] that init did not write; remove it by hand; it is left unchanged',
    );
    expect(Object.keys(project.snapshot()).filter((path) => path.includes('.roo/mcp'))).toEqual([]);
    expect(project.read('.codex/config.toml')).toBe(formatted);
  });

  promiseTest('init/undo', 'undoes one client of two', () => {
    const project = makeProject({ 'CLAUDE.md': '', '.cursor/x': '' });
    project.run('init');
    expect(project.run('init', '--undo', 'cursor').stdout).toMatch(
      /^What all clients share stays: .* Run colibri init --undo without a client to remove it\.\nUndone\.\n$/m,
    );
    expect(Object.keys(project.snapshot()).filter((path) => /mcp\.json$|verify\/SKILL\.md$/.test(path))).toEqual([
      'project/.agents/skills/colibri-verify/SKILL.md',
      'project/.claude/skills/colibri-verify/SKILL.md',
      'project/.mcp.json',
    ]);
  });

  promiseTest('init/undo', 'keeps a ledger that was created after init', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    project.run('init');
    project.put('.colibri/colibri.db', 'a ledger');
    project.run('init', '--undo');
    expect(project.read('.colibri/colibri.db')).toBe('a ledger');
    expect(project.read('.colibri/.gitignore')).toBe('*\n');
  });

  it('works from any folder below the project', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    const deep = join(project.root, 'src', 'deep');
    mkdirSync(deep, { recursive: true });
    runProgram(['init'], { cwd: deep, home: project.home });
    expect(project.readJson('.mcp.json')).toHaveProperty('mcpServers.colibri');
    expect(Object.keys(project.snapshot()).filter((path) => path.startsWith('project/src/deep/'))).toEqual([]);
  });
});
