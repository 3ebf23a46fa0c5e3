import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { INSTRUCTIONS } from '../../src/cli/init/instructions.ts';
import { promiseTest } from '../support/promise-test.ts';
import { makeProject } from './init-project.ts';

const PROGRAM = resolve('dist/colibri.cjs');
const LINES = INSTRUCTIONS.join('\n');

type Project = ReturnType<typeof makeProject>;

/** Standard input and output say that they are terminals. */
function initOnTerminal(project: Project, answer: string, ...args: string[]) {
  const pretend =
    'for (const stream of [process.stdin, process.stdout]) Object.assign(stream, { isTTY: true, columns: 80, hasColors: () => false });';
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  return spawnSync(process.execPath, [...preload, PROGRAM, 'init', ...args], {
    cwd: project.root,
    env: { PATH: process.env['PATH'] ?? '', HOME: project.home, NO_COLOR: '1' },
    input: `${answer}\n`,
    encoding: 'utf8',
  });
}

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
      project.run('init', '--undo');
      expect(project.snapshot()).toEqual(before);
    });

  promiseTest('init/instructions', 'a second time changes nothing', () => {
    const project = makeProject({ 'CLAUDE.md': 'a\r\n', '.cursor/x': '' });
    project.run('init', '--instructions');
    const once = project.snapshot();
    project.run('init', '--instructions');
    expect(project.snapshot()).toEqual(once);
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
      const [question = ''] = stdout.split('--- ');
      expect(question.replaceAll(/\n {4}/g, ' ')).toContain(`  ${INSTRUCTIONS[3]}`);
      expect(question.split('\n').filter((line) => line.length > 80)).toEqual([]);
      expect(stdout.includes(`\n+${INSTRUCTIONS[3]}\n`)).toBe(isWritten);
      expect(stderr).toContain('Add them to CLAUDE.md? [y/N]');
      expect(project.read('CLAUDE.md')).toBe(isWritten ? `${LINES}\n` : '');
      expect(project.readJson('.mcp.json')).toHaveProperty('mcpServers.colibri');
    });

  promiseTest('init/instructions', 'asks nothing on a terminal if the lines are there', () => {
    const project = makeProject({ 'CLAUDE.md': `${LINES}\n` });
    expect(initOnTerminal(project, '').stderr).toBe('');
  });
});
