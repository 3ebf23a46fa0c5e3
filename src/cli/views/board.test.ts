import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import type { Board, Card } from '../../domains/tasks/board.ts';
import { createStyles, toTerminal } from '../../terminal-text.ts';
import { renderBoards } from './board.ts';
import { displayWidth } from './text-width.ts';

const plain = createStyles(false);

const card = (task_id: string, more: Partial<Card> = {}): Card => ({
  task_id,
  title: `The title of ${task_id} 日本語 🧾`,
  priority: 'normal',
  progress: 0,
  assignee: 'unassigned',
  created_at: '2026-04-01T12:00:00.000Z',
  updated_at: '2026-04-05T12:00:00.000Z',
  waits_for: [],
  ...more,
});

const BOARD: Board = {
  project: 'web',
  workflow: 'board',
  columns: [
    { status: 'backlog', count: 1242, cards: [card('T-0001'), card('T-0002', { priority: 'low' })] },
    { status: 'todo', count: 1, cards: [card('T-0003', { priority: 'critical', waits_for: ['T-0001', 'T-0002'] })] },
    {
      status: 'in_progress',
      count: 1,
      cards: [card('T-0004', { assignee: 'claude', progress: 40, holder: 'claude', silent_for_s: 725, lapsed: false })],
    },
    { status: 'blocked', count: 1, cards: [card('T-0005', { blocked_reason: 'legal has not answered' })] },
    { status: 'review', count: 0, cards: [] },
    { status: 'done', count: 1, cards: [card('T-0006', { progress: 60, assignee: 'ada' })] },
    { status: 'cancelled', count: 0, cards: [] },
  ],
};

const STATES = BOARD.columns.map(({ status }) => status.replace('_', ' ').toUpperCase());

const NOW_MS = Date.parse('2026-04-08T13:30:00.000Z');

const render = (
  width: number | undefined,
  boards: readonly Board[] = [BOARD],
  other_projects: readonly string[] = [],
) => renderBoards({ boards, other_projects }, { width, colors: plain }, NOW_MS);

describe('renderBoards', () => {
  for (const width of [20, 21, 40, 79, 80, 120, 152, 200, 1000]) {
    promiseTest('cli/people-board', `shows every card within ${width} columns`, () => {
      const lines = render(width);
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
      const text = lines.join('\n');
      for (let number = 1; number <= 6; number += 1) expect(text).toContain(`▌ T-000${number}`);
      for (const word of ['1,242', 'and 1,240 more', 'critical', '@claude', '40 %', 'waits for', 'legal'])
        expect(text).toContain(word);
    });
  }

  promiseTest('cli/people-board', 'places columns side by side if they fit, else in bands', () => {
    const headers = (width: number) => render(width).filter((line) => /^[A-Z ]+\d/.test(line.replaceAll(',', '')));
    expect(headers(200)).toHaveLength(1);
    expect(headers(200)[0]).toMatch(new RegExp(STATES.join('.*')));
    expect(headers(80).length).toBeGreaterThan(1);
    expect(headers(40).map((line) => line.split(/ {2,}/)[0])).toEqual([...STATES.slice(0, 4), STATES[5]]);
    expect(render(40)).toContain('empty: review, cancelled');
  });

  promiseTest('cli/people-board', 'prints one line per task without a terminal', () => {
    expect(render(undefined)).toContain(
      '  T-0005  normal    unassigned · 3d ago  The title of T-0005 日本語 🧾  [legal has not answered]',
    );
    expect(render(undefined)).toContain(
      '  T-0003  critical  unassigned · 3d ago  The title of T-0003 日本語 🧾  [waits for T-0001, T-0002]',
    );
    expect(render(undefined)[0]).toBe('web  1,245 open · 1 done · 0 cancelled');
  });

  const withCard = (status: string, more: Partial<Card>, width: number | undefined) =>
    render(width, [{ ...BOARD, columns: [{ status, count: 1, cards: [card('T-0007', { title: 'One', ...more })] }] }]);

  promiseTest('cli/board-claims', 'shows the age, and the holder with its silence', () => {
    const held = { assignee: 'ada', holder: 'claude', silent_for_s: 725, lapsed: false, progress: 40 };
    expect(withCard('in_progress', held, 30).slice(4)).toEqual([
      '▌ T-0007                    3d',
      '▌ One',
      '▌ @claude · 40 % · silent 12m',
    ]);
    expect(withCard('in_progress', held, undefined).at(-1)).toBe(
      '  T-0007  normal    @claude · 40 % · 3d ago · silent 12m  One',
    );
    expect(withCard('todo', { assignee: 'ada' }, 30).slice(4)).toEqual([
      '▌ T-0007                    3d',
      '▌ One',
      '▌ @ada',
    ]);
    const soon = { updated_at: '2026-04-09T00:00:00.000Z', priority: 'critical' } as const;
    expect(withCard('todo', soon, 30)[4]).toBe('▌ T-0007           critical 0s');
    expect(withCard('todo', soon, 20)[4]).toBe('▌ T-0007 critical 0s');
    expect(withCard('todo', { ...soon, task_id: 'T-12345' }, 20)[4]).toBe('▌ T-12345   critical');
  });

  promiseTest('cli/board-claims', 'marks a lapsed claim', () => {
    const lapsed = { assignee: 'claude', holder: 'claude', silent_for_s: 10_900, lapsed: true, progress: 40 };
    expect(withCard('in_progress', lapsed, 30).slice(6)).toEqual(['▌ @claude · 40 %', '▌ claim lapsed: silent 3h']);
    expect(withCard('in_progress', lapsed, undefined).at(-1)).toBe(
      '  T-0007  normal    @claude · 40 % · 3d ago · claim lapsed: silent 3h  One',
    );
    const column = { status: 'in_progress', count: 1, cards: [card('T-0007', lapsed)] };
    const view = { boards: [{ ...BOARD, columns: [column] }], other_projects: [] };
    const text = toTerminal(renderBoards(view, { width: 80, colors: createStyles(true) }, NOW_MS));
    expect(text).toContain('\u001b[31mclaim lapsed');
  });

  promiseTest('cli/board-claims', 'shows no percentage on a finished card', () => {
    for (const status of ['done', 'cancelled', 'DONE', 'CANCELLED'])
      for (const width of [undefined, 80]) expect(withCard(status, { progress: 60 }, width).join()).not.toContain('%');
  });

  promiseTest('cli/board-layout', 'breaks no word at 80 columns', () => {
    const title = 'Replace authentication-middleware in src/cli/command-result.ts incrementally';
    const holder = 'claude-code-on-the-build-server#12';
    const more = { title, holder, silent_for_s: 3600, lapsed: false, progress: 12.5, blocked_reason: title };
    const columns = BOARD.columns.map((column) => ({ ...column, count: 1, cards: [card('T-0001', more)] }));
    const lines = render(80, [{ ...BOARD, columns }]).filter((line) => line.includes('▌'));
    // A word that is wider than a column is broken after its punctuation.
    const partsOf = (text: string) => text.split(/[ ▌·]+|(?<=[-/.])/).filter((part) => part !== '');
    const shown = partsOf(lines.join(' ')).filter((part) => !part.endsWith('…'));
    const known = new Set(partsOf(`T-0001 @${holder} 12.5 % 3d silent 1h ${title}`));
    expect(shown.filter((part) => !known.has(part))).toEqual([]);
    expect(shown).toContain('authentication-');
  });

  promiseTest('cli/board-projects', 'names the projects that are not shown', () => {
    const names = Array.from({ length: 12 }, (_, index) => `project-${index}`);
    expect(render(undefined, [BOARD], ['api', 'web']).at(-1)).toBe(
      'Other projects: api, web. Show one with --project NAME, or all with --all.',
    );
    const lines = render(40, [BOARD], names);
    expect(lines.slice(-5).join(' ')).toContain('project-9 and 2 more. Show one');
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(40);
    expect(render(80).join()).not.toContain('Other projects');
  });

  it('colors cards by priority', () => {
    const text = toTerminal(
      renderBoards({ boards: [BOARD], other_projects: [] }, { width: 200, colors: createStyles(true) }, NOW_MS),
    );
    for (const painted of ['\u001b[31mT-0003', '\u001b[36mT-0001', '\u001b[90mT-0002', '\u001b[31mlegal']) {
      expect(text).toContain(painted);
    }
  });

  it('colors the lines of a pipe if the user forces it', () => {
    const view = { boards: [BOARD], other_projects: [] };
    const text = toTerminal(renderBoards(view, { width: undefined, colors: createStyles(true) }, NOW_MS));
    for (const painted of ['\u001b[1mweb', '\u001b[31mT-0003', '\u001b[34mtodo']) expect(text).toContain(painted);
  });

  it('escapes control characters in a title', () => {
    const hostile = card('T-0001', { title: 'x\u001b[2J\u0007\u202ey', assignee: 'a\u001b]0;b\u0007' });
    const column = { status: 'todo', count: 1, cards: [hostile] };
    for (const width of [undefined, 80]) {
      expect(render(width, [{ ...BOARD, columns: [column] }]).join('')).not.toMatch(/\p{Cc}|\u202e/u);
    }
  });

  it('names the pipeline, and shows an empty board', () => {
    const empty = BOARD.columns.map(({ status }) => ({ status, count: 0, cards: [] }));
    expect(render(80, [{ ...BOARD, workflow: 'pipeline', columns: empty }])).toEqual([
      'web · pipeline  0 open · 0 done · 0 cancelled',
      '',
      'empty: backlog, todo, in progress, blocked, review, done, cancelled',
    ]);
  });
});
