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
  waits_for: [],
  ...more,
});

const BOARD: Board = {
  project: 'web',
  workflow: 'board',
  columns: [
    { status: 'backlog', count: 1242, cards: [card('T-0001'), card('T-0002', { priority: 'low' })] },
    { status: 'todo', count: 1, cards: [card('T-0003', { priority: 'critical', waits_for: ['T-0001', 'T-0002'] })] },
    { status: 'in_progress', count: 1, cards: [card('T-0004', { assignee: 'claude', progress: 40 })] },
    { status: 'blocked', count: 1, cards: [card('T-0005', { blocked_reason: 'legal has not answered' })] },
    { status: 'review', count: 0, cards: [] },
    { status: 'done', count: 1, cards: [card('T-0006', { progress: 100 })] },
    { status: 'cancelled', count: 0, cards: [] },
  ],
};

const STATES = BOARD.columns.map(({ status }) => status.replace('_', ' ').toUpperCase());

const render = (width: number | undefined, boards: readonly Board[] = [BOARD]) =>
  renderBoards(boards, { width, colors: plain });

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
      '  T-0005  normal    unassigned  The title of T-0005 日本語 🧾  [legal has not answered]',
    );
    expect(render(undefined)).toContain(
      '  T-0003  critical  unassigned  The title of T-0003 日本語 🧾  [waits for T-0001, T-0002]',
    );
    expect(render(undefined)[0]).toBe('web  1,245 open · 1 done · 0 cancelled');
  });

  it('colors cards by priority', () => {
    const text = toTerminal(renderBoards([BOARD], { width: 200, colors: createStyles(true) }));
    for (const painted of ['\u001b[31mT-0003', '\u001b[36mT-0001', '\u001b[90mT-0002', '\u001b[31mlegal']) {
      expect(text).toContain(painted);
    }
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
