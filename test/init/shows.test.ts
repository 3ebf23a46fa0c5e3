import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

interface Shown {
  readonly root: string;
  readonly dry_run: boolean;
  readonly changes: { path: string; action: string; diff?: string }[];
  readonly notes: string[];
  readonly next: { client: string; step: string }[];
}

const SHIPPED = readFileSync('.agents/skills/colibri-verify/SKILL.md', 'utf8');
const COPY = '.agents/skills/colibri-verify/SKILL.md';
const FILES = {
  'CLAUDE.md': '',
  '.cursor/mcp.json': '{\n  "mcpServers": {\n    "a": {} // mine\n    /* end */\n  }\n}\n',
};

describe('colibri init', () => {
  promiseTest('init/shows', 'a diff that git apply accepts, with the same result', () => {
    const [shown, written] = [makeProject(FILES), makeProject(FILES)];
    const { changes } = JSON.parse(shown.run('init', '--dry-run', '--json').stdout) as Shown;
    for (const { diff = '' } of changes.filter(({ path }) => path.endsWith('.json')))
      execFileSync('git', ['apply', '-p0', '--unsafe-paths', '-'], { cwd: shown.root, input: `${diff}\n` });
    written.run('init');
    for (const path of ['.mcp.json', '.cursor/mcp.json']) expect(shown.read(path)).toBe(written.read(path));
  });

  promiseTest('init/shows', '--dry-run writes nothing', () => {
    const project = makeProject(FILES);
    const before = project.snapshot();
    const { code, stdout } = project.run('init', '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain(`+      "command": ${JSON.stringify(process.execPath)},`);
    expect(stdout).toContain('Nothing was written (--dry-run).');
    expect(project.snapshot()).toEqual(before);
    project.run('init');
    const after = project.snapshot();
    expect(project.run('init', '--undo', '--dry-run').stdout).toContain(
      `-      "command": ${JSON.stringify(process.execPath)},`,
    );
    expect(project.snapshot()).toEqual(after);
  });

  promiseTest('init/shows', 'without colors in a pipe', () => {
    expect(makeProject(FILES).run('init').stdout).not.toContain('\u001B');
  });

  promiseTest('init/shows', 'as JSON with --json', () => {
    const project = makeProject(FILES);
    const shown = JSON.parse(project.run('init', '--json', '--no-instructions').stdout) as Shown;
    expect(shown).toMatchObject({ root: project.root, dry_run: false, notes: [] });
    expect(shown.next.map(({ client }) => client)).toEqual(['claude-code', 'cursor']);
    expect(shown.changes.slice(0, 2).map(({ path, action }) => [path, action])).toEqual([
      ['.mcp.json', 'create'],
      ['.cursor/mcp.json', 'update'],
    ]);
  });

  promiseTest('init/shows', '--help has examples and exit codes', () => {
    const { code, stdout } = makeProject().run('init', '--help');
    expect(code).toBe(0);
    for (const text of ['Examples:', 'Exit codes:', '--dry-run', '--undo', '--global', 'kiro'])
      expect(stdout).toContain(text);
  });

  promiseTest('init/skills', 'copies them to .agents, and to .claude if Claude Code is used', () => {
    const [claude, cursor] = [makeProject({ 'CLAUDE.md': '' }), makeProject({ '.cursor/x': '' })];
    claude.run('init');
    cursor.run('init');
    expect(claude.read(COPY)).toBe(SHIPPED);
    expect(claude.read('.claude/skills/colibri-verify/SKILL.md')).toBe(SHIPPED);
    expect(cursor.read(COPY)).toBe(SHIPPED);
    expect(Object.keys(cursor.snapshot()).filter((path) => path.includes('.claude'))).toEqual([]);
  });

  promiseTest('init/skills', 'keeps a modified skill, also on undo', () => {
    const project = makeProject({ 'CLAUDE.md': '', [COPY]: 'mine' });
    expect(project.run('init').stdout).toContain(`${COPY} has been modified and is left unchanged`);
    project.put('.claude/skills/colibri-verify/SKILL.md', 'mine too');
    project.run('init', '--undo');
    const left = Object.keys(project.snapshot()).filter((path) => path.endsWith('SKILL.md'));
    expect(left).toEqual([join('project', COPY), 'project/.claude/skills/colibri-verify/SKILL.md']);
    expect(project.read(COPY)).toBe('mine');
  });

  promiseTest('init/skills', 'updates an unmodified copy to a newer version', () => {
    const project = makeProject({ 'CLAUDE.md': '' });
    project.run('init');
    const record = project.read('.colibri/init.json');
    project.put(COPY, 'of an older version');
    expect(project.run('init').stdout).toContain('is left unchanged');
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    project.put('.colibri/init.json', record.replaceAll(digest(SHIPPED), digest('of an older version')));
    expect(project.run('init').stdout).toContain(`update ${COPY}`);
    expect(project.read(COPY)).toBe(SHIPPED);
  });
});
