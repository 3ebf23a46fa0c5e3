import { describe, expect, it } from 'vitest';
import { createLog, LOG_LEVELS, type LogLevel } from './log.ts';

function capture(threshold: LogLevel) {
  const lines: string[] = [];
  const log = createLog(threshold, (line) => lines.push(line));
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown> };
}

describe('the log', () => {
  for (const [index, threshold] of LOG_LEVELS.entries()) {
    it(`writes ${threshold} and more severe levels at threshold ${threshold}`, () => {
      const { log, lines } = capture(threshold);
      for (const level of LOG_LEVELS) log(level, 'event');
      expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(
        LOG_LEVELS.slice(0, index + 1),
      );
    });
  }

  it('has one JSON object per line, with a time', () => {
    const { log, lines, last } = capture('info');
    log('info', 'two\nlines', { text: 'more\nlines' });
    expect(lines[0]).not.toContain('\n');
    expect(last()).toMatchObject({ level: 'info', event: 'two\nlines', text: 'more\nlines' });
    expect(last()['at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('shows an error with its stack and its causes', () => {
    const { log, last } = capture('info');
    log('error', 'bug', { error: new Error('outer', { cause: new Error('inner') }) });
    expect(last()['error']).toMatchObject({
      message: 'outer',
      stack: expect.stringContaining('log.test'),
      cause: { message: 'inner', stack: expect.any(String) },
    });
  });

  it('writes the messages of errors without stacks where a person reads it', () => {
    const lines: string[] = [];
    const log = createLog('error', (line) => lines.push(line), { hasStacks: false });
    log('error', 'bug', { error: new Error('outer', { cause: new Error('inner') }) });
    expect(JSON.parse(lines[0] as string)).toMatchObject({ event: 'bug', error: 'outer' });
  });

  it('never throws', () => {
    const { log, last } = capture('info');
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const error = new Error('its own cause');
    error.cause = error;
    for (const value of [
      1n,
      circle,
      error,
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
    ]) {
      log('error', 'odd', { value });
      expect(last()).toMatchObject({ level: 'error', event: 'odd', unprintable: ['value'] });
    }
  });
});
