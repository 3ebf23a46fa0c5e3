import { describe, expect, it } from 'vitest';
import { FILTER_OPTIONS, parseStatuses } from './task-filters.ts';

const parse = (flag: string, value: string): unknown =>
  FILTER_OPTIONS.find(({ long }) => long === flag)?.parseArg?.(value, undefined);

describe('the filters of board and list', () => {
  it.each([
    ['In-Progress,todo', ['in_progress', 'todo']],
    ['In Progress', ['in_progress']],
    ['init, done', ['INIT', 'done', 'DONE']],
    ['todo,todo', ['todo']],
  ])('accept the status %j', (text, expected) => expect(parseStatuses(text)).toEqual(expected));

  it('accept "open", and a repeated option', () => {
    expect(parseStatuses('open')).toContain('VERIFY');
    expect(parseStatuses('open')).not.toContain('done');
    expect(parseStatuses('review', ['todo'])).toEqual(['todo', 'review']);
  });

  it.each([
    ['--status', 'nearly', 'Use open or one or more of backlog, todo'],
    ['--status', '', 'Use open or one or more of'],
    ['--status', 'todo,', 'Use open or one or more of'],
    ['--assignee', '', 'Use 1 to 128 characters'],
    ['--assignee', 'x'.repeat(129), 'Use 1 to 128 characters'],
    ['--assignee', 'a\u001b[2Jb', 'on one line'],
    ['--label', 'x'.repeat(65), 'Use 1 to 64 characters'],
    ['--label', 'a\nb', 'on one line'],
    ['--search', '  ', 'Use 1 to 256'],
    ['--search', 'x'.repeat(257), 'Use 1 to 256'],
    ['--project', 'No Slug', 'slug'],
  ])('refuse %s %j', (flag, value, message) => expect(() => parse(flag, value)).toThrow(message));
});
