import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { displayWidth } from '../../src/cli/views/text-width.ts';
import { formatTaskId } from '../../src/ids.ts';
import {
  colibri,
  colibriOnTerminal,
  createProject,
  expectWhole,
  hasEscapes,
  ledgerOf,
  projectFilledBy,
  startColibri,
  withAgent,
} from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

/** Tasks in every state, in two projects and both workflows. */
const createBoard = projectFilledBy(async (folder) => {
  await withAgent(folder, 'claude', async (agent) => {
    await agent('task_create', { title: 'Rotate the keys', status: 'todo', priority: 'critical' });
    await agent('task_create', { title: '日本語の領収書を追加する 🧾', status: 'todo', priority: 'low' });
    await agent('task_create', { title: 'Wait for the keys', status: 'todo', depends_on: ['T-0001'] });
    await agent('task_create', { title: 'Upgrade the library', status: 'todo', priority: 'high' });
    await agent('task_update', { task_id: 'T-0002', status: 'in_progress', progress: 30 });
    await agent('task_update', { task_id: 'T-0004', status: 'blocked', blocked_reason: 'the vendor is silent' });
    for (let number = 5; number <= 16; number += 1) await agent('task_create', { title: `Idea ${number}` });
    await agent('task_create', { title: 'Through the pipeline', workflow: 'pipeline' });
    await agent('task_create', { title: 'Elsewhere', project: 'web', status: 'todo' });
  });
});

const columnsOf = (text: string) =>
  (
    JSON.parse(text) as {
      boards: { project: string; workflow: string; columns: { status: string; count: number; cards: unknown[] }[] }[];
    }
  ).boards;

/** The time passes between two runs: ages and the blanks around them may differ. */
const timeless = (text: string) => text.replaceAll(/\d+[smhd]\b/g, '0s').replaceAll(/ +/g, ' ');

describe('colibri board', () => {
  promiseTest('cli/people-board', 'prints lists in a pipe, from a subfolder of the project', async () => {
    const folder = await createBoard();
    const below = join(folder, 'src', 'deep');
    mkdirSync(below, { recursive: true });
    const { stdout, stderr, status } = colibri(below, ['board']);
    expect([stderr, status]).toEqual([`Using the ledger of ${folder}: ${below} is inside it.\n`, 0]);
    expect(stdout.replaceAll(/(?<= · |silent )\d+[sm]/g, '1s').split('\n')).toEqual([
      'default  16 open · 0 done · 0 cancelled',
      '',
      'backlog (12)',
      ...[16, 15, 14, 13, 12, 11, 10, 9].map(
        (no) => `  ${formatTaskId(no)}  normal    unassigned · 1s ago  Idea ${no}`,
      ),
      '  and 4 more',
      '',
      'todo (2)',
      '  T-0001  critical  unassigned · 1s ago  Rotate the keys',
      '  T-0003  normal    unassigned · 1s ago  Wait for the keys  [waits for T-0001]',
      '',
      'in progress (1)',
      '  T-0002  low       @claude · 30 % · 1s ago · silent 1s  日本語の領収書を追加する 🧾',
      '',
      'blocked (1)',
      '  T-0004  high      unassigned · 1s ago  Upgrade the library  [the vendor is silent]',
      '',
      'default · pipeline  1 open · 0 done · 0 cancelled',
      '',
      'INIT (1)',
      '  T-0017  normal    unassigned · 1s ago  Through the pipeline',
      '',
      'Other projects: web. Show one with --project NAME, or all with --all.',
      '',
    ]);
  });

  promiseTest('cli/people-plain', 'on a terminal, with NO_COLOR, with TERM=dumb, in a pipe', async () => {
    const folder = await createBoard();
    for (const columns of [40, 80, 200]) {
      const colored = colibriOnTerminal(folder, columns, ['board']).stdout;
      expect(hasEscapes(colored)).toBe(true);
      const uncolored = colored.replaceAll(/\p{Cc}\[\d+m/gu, '');
      const plain = timeless(uncolored);
      expect(timeless(colibriOnTerminal(folder, columns, ['board'], { NO_COLOR: '1' }).stdout)).toBe(plain);
      expect(timeless(colibriOnTerminal(folder, columns, ['board'], { TERM: 'dumb' }).stdout)).toBe(plain);
      expect(timeless(colibri(folder, ['board', '--width', String(columns)], { CI: 'true' }).stdout)).toBe(plain);
      expect(Math.max(...uncolored.split('\n').map(displayWidth))).toBeLessThanOrEqual(columns);
    }
    for (const command of [['show', '1'], ['next'], ['log']]) {
      expect(hasEscapes(colibriOnTerminal(folder, 80, command).stdout)).toBe(true);
      expect(hasEscapes(colibriOnTerminal(folder, 80, command, { NO_COLOR: '1' }).stdout)).toBe(false);
      expect(hasEscapes(colibri(folder, command).stdout)).toBe(false);
      expect(hasEscapes(colibri(folder, command, { FORCE_COLOR: '1' }).stdout)).toBe(true);
      expect(hasEscapes(colibri(folder, command, { FORCE_COLOR: '0' }).stdout)).toBe(false);
    }
  });

  promiseTest('cli/people-board', 'shows the requested project, the active one, or all', async () => {
    const folder = await createBoard();
    const projects = (args: string[], variables = {}) =>
      columnsOf(colibri(folder, ['board', '--json', ...args], variables).stdout).map(
        ({ project, workflow }) => `${project} ${workflow}`,
      );
    expect(projects([])).toEqual(['default board', 'default pipeline']);
    expect(projects(['--project', 'web'])).toEqual(['web board']);
    expect(projects([], { COLIBRI_PROJECT: 'web' })).toEqual(['web board']);
    expect(projects(['--all'])).toEqual(['default board', 'default pipeline', 'web board']);
    expect(projects([], { COLIBRI_PROJECT: 'not-begun' })).toEqual(['default board', 'default pipeline', 'web board']);
  });

  promiseTest('cli/people-board', 'counts all cards and shows as many as --limit', async () => {
    const folder = await createBoard();
    const [board] = columnsOf(colibri(folder, ['board', '--json', '-n', '3']).stdout);
    expect(board?.columns.map(({ status, count, cards }) => `${status} ${count} ${cards.length}`)).toEqual([
      'backlog 12 3',
      'todo 2 2',
      'in_progress 1 1',
      'blocked 1 1',
      'review 0 0',
      'done 0 0',
      'cancelled 0 0',
    ]);
    expect(colibri(folder, ['board', '-n', '12']).stdout).not.toContain('more');
  });

  promiseTest('cli/people-read-only', 'board, show, next and log', async () => {
    const folder = await createBoard();
    const before = fingerprint(folder);
    for (const command of [['board'], ['board', '--all'], ['show', '1'], ['next'], ['log'], ['log', '--json']]) {
      expect(colibri(folder, command).status).toBe(0);
    }
    expect(fingerprint(folder)).toBe(before);
    expectWhole(folder);
  });

  promiseTest(
    'cli/board-watch',
    'draws over the terminal without clearing it, and cuts what does not fit',
    async () => {
      const folder = createProject();
      await withAgent(folder, 'claude', async (agent) => {
        for (const title of ['One', 'Two', 'Three', 'Four']) await agent('task_create', { title, status: 'todo' });
        const watching = startColibri(folder, ['board', '--watch'], { columns: 80, rows: 12 });
        const frames = () => watching.lines().join('\n').split('\u001b[H').slice(1);
        await watching.seen(() => frames().some((frame) => frame.includes('One')));
        await agent('task_create', { title: 'Urgent', status: 'todo', priority: 'critical' });
        await watching.seen(() => frames().some((frame) => frame.includes('Urgent')));
        watching.child.kill('SIGINT');
        expect(await watching.ended).toEqual({ status: 0, stderr: '' });
        for (const frame of frames()) {
          expect(frame.split('\n').length - 1).toBeLessThanOrEqual(11);
          expect(frame).toMatch(/… \d+ more lines; enlarge the terminal/);
          expect(frame).not.toContain('\u001b[2J');
        }
      });
      expectWhole(folder);
    },
  );

  promiseTest('cli/board-watch', 'ends when q is typed, and keeps the last character of a full line', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'x'.repeat(200), status: 'todo' });
      await agent('task_update', { task_id: 'T-0001', status: 'in_progress' });
    });
    const watching = startColibri(folder, ['agents', '--watch'], { columns: 60, rows: 12 });
    await watching.seen((lines) => lines.some((line) => line.includes('xxx')));
    const full = watching.lines().find((line) => line.includes('xxx'));
    // A terminal that has just drawn its last column clears that character.
    expect(full).toMatch(/^ +T-0001 in_progress {2}x+…$/);
    expect(displayWidth(full ?? '')).toBe(60);
    watching.child.stdin.write('abc\u001b[A');
    watching.child.stdin.write('q');
    expect(await watching.ended).toEqual({ status: 0, stderr: '' });
  });

  promiseTest('cli/board-watch', 'prints a JSON line for every change in a pipe, and none as time passes', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'One', status: 'todo' });
      const watching = startColibri(folder, ['board', '--watch', '--json']);
      await watching.seen((lines) => lines.length > 0);
      await agent('task_update', { task_id: 'T-0001', status: 'in_progress' });
      await watching.seen((lines) => lines.at(-1)?.includes('"holder":"claude"') ?? false);
      // A call that changes no task is a sign of life, but no change of the board.
      await agent('task_list', {});
      await agent('task_create', { title: 'Two', status: 'todo' });
      await watching.seen((lines) => lines.at(-1)?.includes('Two') ?? false);
      watching.child.kill('SIGTERM');
      expect(await watching.ended).toEqual({ status: 0, stderr: '' });
      const states = watching.lines().map((line) => line.replaceAll(/"silent_for_s":\d+/g, ''));
      expect(new Set(states).size).toBe(states.length);
    });
  });

  promiseTest('cli/people-plain', 'a broken pipe is not an error', async () => {
    const folder = await createBoard();
    const { child, ended } = startColibri(folder, ['board']);
    child.stdout.destroy();
    expect(await ended).toEqual({ status: 0, stderr: '' });
  });
});

/** The file and its WAL; the other side files that SQLite creates for a reader hold no data. */
function fingerprint(folder: string): string {
  const path = ledgerOf(folder);
  const hash = createHash('sha256').update(readFileSync(path));
  return hash.update(existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : '').digest('hex');
}
