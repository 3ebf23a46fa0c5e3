import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../../test/support/promise-test.ts';
import { agentPath, dayPath, sessionPath, taskPath } from './file-names.ts';

describe('the path of a note', () => {
  it.each([
    ['claude-code', 'agents/claude-code.md'],
    ['claude-code#2', 'agents/claude-code+2.md'],
    ['person:ada', 'agents/person@ada.md'],
  ])('of the agent %j', (name, path) => expect(agentPath(name)).toBe(path));

  it('names the notes of tasks, sessions and days after their id', () => {
    expect([taskPath(42), sessionPath(12345), dayPath('2026-04-08')]).toEqual([
      'tasks/T-0042.md',
      'sessions/A-12345.md',
      'days/2026-04-08.md',
    ]);
  });

  const SPELLINGS = [
    'claude',
    'Claude',
    'CLAUDE',
    'cl\u0430ude',
    'claude ',
    'claude.',
    '.claude',
    'claude~1',
    'é',
    'e\u0301',
  ];
  const PATHS = [
    '..',
    '../../etc/passwd',
    '/etc/x',
    'a/b',
    'a\\b',
    'a:b',
    'a#b',
    'a+b',
    'a@b',
    'a|b',
    'a?b*',
    'a\u0000b',
  ];
  const DEVICES = ['con', 'NUL', 'com1', 'aux.txt', '', ' ', '-', 'a\nb', '\u202egpj', 'a[[b]]', '日本語', 'ß', 'ss'];
  const LONG = ['x'.repeat(300), 'x'.repeat(64), 'x'.repeat(65)];
  const ALIKE = ['person:ada', 'person@ada', 'person#ada', 'claude-6f3a1b2c3d4e', 'T-0001', 't-0001'];
  const NAMES = [...SPELLINGS, ...PATHS, ...DEVICES, ...LONG, ...ALIKE];

  promiseTest('notes/names', 'is safe on every file system and differs from that of every other agent', () => {
    const paths = NAMES.map(agentPath);
    for (const path of paths) {
      expect(path).toMatch(/^agents\/[a-z0-9_][a-z0-9_.+@-]{0,63}\.md$/);
      expect(path).not.toMatch(/\.\.|\/(?:con|prn|aux|nul|com\d|lpt\d)\./);
    }
    expect(new Set(paths).size).toBe(NAMES.length);
    expect(NAMES.map(agentPath)).toEqual(paths);
  });
});
