import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { SigningProject } from './support.ts';

let project: SigningProject;

beforeAll(async () => {
  project = new SigningProject({ isShared: true });
  await project.colibri('add', 'one');
}, 60_000);

afterAll(() => project?.remove());

const read = (name: string) => readFileSync(project.path(name), 'utf8');

describe('pages', () => {
  promiseTest('page/written', 'the page without a bundle needs no ledger, and is the one of the package', async () => {
    const empty = project.mkdir('empty');
    const run = await project.runWith(
      { cwd: empty, env: project.env },
      'export',
      '--html',
      '--out',
      'own.html',
      '--json',
    );
    const { sha256, file } = JSON.parse(run.stdout) as { sha256: string; file: string };
    const page = readFileSync(file);
    expect(page.equals(brotliDecompressSync(readFileSync('dist/page.html.br')))).toBe(true);
    expect(createHash('sha256').update(page).digest('hex')).toBe(sha256);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(empty)).toEqual(['own.html']);
  });

  promiseTest('page/written', 'board --html replaces its own page', async () => {
    expect(await project.colibri('board', '--html')).toMatchObject({ status: 0 });
    const before = read('colibri-board.html');
    expect(before).toContain('data-view="board"');
    await project.colibri('add', 'two');
    expect(await project.colibri('board', '--html')).toMatchObject({ status: 0 });
    expect(read('colibri-board.html')).not.toBe(before);
    expect(statSync(project.path('colibri-board.html')).mode & 0o777).toBe(0o600);
    const key = (await project.colibri('key')).stdout.trim();
    const judged = await project.colibri('verify', 'colibri-board.html', '--key', key);
    expect(judged.stdout).toContain('every entry of the signed log is here');
  });

  promiseTest('page/written', 'nothing else is replaced, not even through a link', async () => {
    const target = project.path('mine.html');
    writeFileSync(target, '<!doctype html><title>mine</title>');
    symlinkSync(target, project.path('link.html'));
    for (const args of [
      ['board', '--html', 'mine.html'],
      ['board', '--html', 'link.html'],
      ['board', '--html', '.'],
      ['export', '--all', '--html', '--out', 'mine.html'],
      ['export', '--html', '--out', 'mine.html'],
    ])
      expect(await project.colibri(...args), args.join(' ')).toMatchObject({ status: 3 });
    expect(read('mine.html')).toBe('<!doctype html><title>mine</title>');
    expect(readdirSync(project.folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  promiseTest('page/written', 'options that the page would ignore are refused', async () => {
    for (const args of [
      ['export', '--html'],
      ['export', '--html', '--redact', '--out', 'new.html'],
      ['export', '--html', '--markdown', 'notes', '--out', 'new.html'],
      ['board', '--html', 'new.html', '--project', 'default'],
      ['board', '--html', 'new.html', '--watch'],
    ])
      expect(await project.colibri(...args), args.join(' ')).toMatchObject({ status: 3 });
    expect(existsSync(project.path('new.html'))).toBe(false);
  });
});
