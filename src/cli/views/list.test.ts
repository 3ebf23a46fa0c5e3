import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { createStyles } from '../../terminal-text.ts';
import type { ListedRow } from '../query/list-tasks.ts';
import { CSV_HEADER, csvCells, markdownLine, renderListLine } from './list.ts';
import { displayWidth } from './text-width.ts';

const TASK: ListedRow = {
  task_id: 'T-0042',
  project: 'web',
  status: 'in_progress',
  priority: 'high',
  progress: 40,
  assignee: 'ada',
  title: 'Rotate the keys',
  labels: ['red', 'blue'],
  depends_on: ['T-0001', 'T-0002'],
  workflow: 'board',
  created_at: '2026-04-01T12:00:00.000Z',
  created_by: 'ada',
  updated_at: '2026-04-05T12:00:00.000Z',
  updated_by: 'ada',
};
const NOW_MS = Date.parse('2026-04-08T13:30:00.000Z');

const cellOf = (title: string) => csvCells({ ...TASK, title })[CSV_HEADER.indexOf('title')];

describe('CSV', () => {
  promiseTest('cli/list-formats', 'has a cell for every column', () => {
    expect(csvCells(TASK)).toHaveLength(CSV_HEADER.length);
    expect(csvCells(TASK).join()).toBe(
      'T-0042,web,in_progress,high,40,ada,,Rotate the keys,red;blue,,T-0001;T-0002,,,board,2026-04-01T12:00:00.000Z,ada,2026-04-05T12:00:00.000Z,ada',
    );
  });

  for (const [text, cell] of [
    ['plain', 'plain'],
    ['one, two', '"one, two"'],
    ['say "no"', '"say ""no"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', "'=1+1"],
    ['  =1+1', "'  =1+1"],
    ['+cmd|calc', "'+cmd|calc"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['＝1+1', "'＝1+1"],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['\t=1', "'\t=1"],
    ['-12.5', '-12.5'],
    ['a=b', 'a=b'],
  ] as const)
    promiseTest('cli/list-formats', `writes ${JSON.stringify(text)} as ${JSON.stringify(cell)}`, () => {
      expect(cellOf(text)).toBe(cell);
    });
});

describe('Markdown', () => {
  promiseTest('cli/list-formats', 'shows a title as it is', () => {
    const title = 'a|b *c* _d_ [e](javascript:f) `g` <img src=x> & \\ #h\nnext';
    expect(markdownLine({ ...TASK, title })).toBe(
      '| T-0042 | in\\_progress | high | ada | a\\|b \\*c\\* \\_d\\_ \\[e\\]\\(javascript:f\\) \\`g\\` &lt;img src=x\\> &amp; \\\\ \\#h next | 2026-04-05T12:00:00.000Z |',
    );
  });
});

describe('the lines for people', () => {
  const render = (width: number | undefined, more: Partial<ListedRow> = {}) =>
    renderListLine({ ...TASK, ...more }, { width, colors: createStyles(false) }, NOW_MS);

  it('shows the holder rather than the assignee, the age and the progress', () => {
    expect(render(80)).toBe('T-0042  in_progress    3d  @ada            Rotate the keys');
    expect(render(100)).toBe('T-0042  in_progress  high        3d  @ada            Rotate the keys 40 %');
    expect(render(undefined, { holder: 'claude' })).toContain('  @claude         Rotate the keys 40 %');
    expect(render(80, { status: 'done', assignee: 'unassigned' })).toMatch(/ {2}- {15}Rotate the keys$/);
  });

  it.each([60, 80, 120])('fit %i columns and break no word', (width) => {
    const line = render(width, {
      title: '日本語の領収書 🧾 and a title that goes on and on and on until the end of the line',
    });
    expect(displayWidth(line)).toBeLessThanOrEqual(width);
    expect(line).toContain('…');
  });

  it('escape what could control a terminal', () => {
    expect(render(80, { title: 'x\u001b[2J', holder: '\u202e' })).not.toMatch(/\p{Cc}|\u202e/u);
  });
});

describe('a line for people', () => {
  promiseTest('cli/list-formats', 'fits every width, and always has the id and a part of the title', () => {
    for (let width = 20; width <= 140; width += 1) {
      const line = renderListLine(
        { ...TASK, title: 'Rotate the keys of the payment service' },
        { width, colors: createStyles(false) },
        NOW_MS,
      );
      expect(displayWidth(line), `${width}`).toBeLessThanOrEqual(width);
      expect(line, `${width}`).toContain('T-0042');
      expect(line, `${width}`).toContain('Rotate');
    }
  });
});
