import { describe, expect, it, vi } from 'vitest';
import { toTerminal } from '../../terminal-text.ts';
import type { Screen } from '../support/print.ts';
import { canLink, findTerminal, plural, timeFormat } from './terminal.ts';

/** A stream with the properties of a terminal. */
function pretend(isTTY: boolean, columns: number | undefined, hasColors: boolean, isColorForced = false): Screen {
  return { isTTY, columns, hasColors: () => hasColors, isColorForced };
}

describe('canLink', () => {
  it.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])('on a terminal: %s, with colors: %s', (isTTY, hasColors, expected) => {
    vi.stubEnv('TERM', 'xterm');
    expect(canLink(pretend(isTTY, 80, hasColors, true))).toBe(expected);
    vi.stubEnv('TERM', 'dumb');
    expect(canLink(pretend(isTTY, 80, hasColors, true))).toBe(false);
    vi.unstubAllEnvs();
  });
});

describe('findTerminal', () => {
  it('uses the width and colors of the terminal', () => {
    const { width, colors } = findTerminal(undefined, pretend(true, 72, true));
    expect([width, toTerminal(colors.red('x'))]).toEqual([72, '\u001b[31mx\u001b[39m']);
  });

  it('uses no colors if Node reports none', () => {
    expect(findTerminal(undefined, pretend(true, 72, false)).colors.red('x')).toBe('x');
  });

  it.each([
    [0, 80],
    [undefined, 80],
    [3, 20],
  ])('of %s columns is taken for one of %i', (columns, width) => {
    expect(findTerminal(undefined, pretend(true, columns, true)).width).toBe(width);
  });

  it('uses no width and no colors in a pipe', () => {
    const { width, colors } = findTerminal(undefined, pretend(false, 72, true));
    expect([width, colors.red('x')]).toEqual([undefined, 'x']);
    expect(findTerminal(50, pretend(false, 72, true)).width).toBe(50);
  });

  it('uses colors in a pipe if the user forces them', () => {
    const { width, colors } = findTerminal(undefined, pretend(false, 72, false, true));
    expect([width, toTerminal(colors.red('x'))]).toEqual([undefined, '\u001b[31mx\u001b[39m']);
  });
});

it('formats times and counts for people', () => {
  expect(timeFormat(true)('2026-04-08T22:15:30.123Z')).toBe('2026-04-08 22:15:30Z');
  const iso = new Date(2026, 3, 8, 2, 5, 9).toISOString();
  expect(timeFormat()(iso)).toBe('2026-04-08 02:05:09');
  expect(timeFormat()('tampered')).toBe('tampered');
  expect([plural(1, 'change'), plural(0, 'change'), plural(1234, 'change')]).toEqual([
    '1 change',
    '0 changes',
    '1,234 changes',
  ]);
});
