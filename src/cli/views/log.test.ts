import { describe, expect, it } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { createStyles, toTerminal } from '../../terminal-text.ts';
import type { LoggedCall } from '../query/call-task.ts';
import { createCallView, renderCall } from './log.ts';
import type { Terminal } from './terminal.ts';
import { displayWidth } from './text-width.ts';

const CALL: LoggedCall = {
  sequence_no: 1042,
  tool: 'task_update',
  actor: 'claude',
  task_id: 'T-0001',
  entered_at: '2026-04-08T22:15:30.123Z',
  exited_at: '2026-04-08T22:15:30.130Z',
  outcome: 'ok',
  duration_ms: 7,
  arguments: '{"task_id":"T-0001","title":"日本語の領収書 🧾 and so on"}',
  result_digest: null,
};
const plain = createStyles(false);

const lines = (call: LoggedCall, terminal: Terminal) => renderCall(call, terminal, true);
const render = (call: LoggedCall, terminal: Terminal) => lines(call, terminal).join('\n');

describe('renderCall', () => {
  it('prints the whole line without a terminal', () => {
    expect(render(CALL, { width: undefined, colors: plain })).toBe(
      ` #1042 2026-04-08 22:15:30Z claude         T-0001 task_update         ok 7 ms ${CALL.arguments}`,
    );
  });

  promiseTest('cli/log-columns', 'keeps the column of a call that named no tool', () => {
    const call = { ...CALL, tool: '', outcome: 'UNKNOWN_TOOL', arguments: '{}' };
    expect(render(call, { width: undefined, colors: plain })).toBe(
      ' #1042 2026-04-08 22:15:30Z claude         T-0001 -                   UNKNOWN_TOOL 7 ms {}',
    );
  });

  promiseTest('cli/log-columns', 'has columns for the agent and the task', () => {
    const shown = [CALL, { ...CALL, actor: 'ada', task_id: null }].map((call) =>
      render(call, { width: 80, colors: plain }),
    );
    expect(shown).toEqual([
      ' #1042 22:15:30 claude         T-0001 task_update         ok 7 ms {"title":"日…',
      ' #1042 22:15:30 ada            -      task_update         ok 7 ms {"task_id":"T…',
    ]);
  });

  promiseTest('cli/log-columns', 'cuts a long name on a terminal only', () => {
    const call = { ...CALL, actor: 'claude-code-on-the-build-server', arguments: '' };
    expect(render(call, { width: 80, colors: plain })).toContain(' claude-code-o… T-0001 ');
    expect(render(call, { width: undefined, colors: plain })).toContain(' claude-code-on-the-build-server T-0001 ');
  });

  it.each([20, 40, 60, 80, 100, 200])('is at most %i columns wide', (width) => {
    for (const outcome of ['ok', 'running', 'ERR_WRITEBACK_REQUIRED']) {
      const shown = lines({ ...CALL, outcome }, { width, colors: plain });
      for (const line of shown) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      expect(shown[0]).toContain('#1042');
    }
  });

  promiseTest('cli/log-columns', 'has a second line for the tool and the outcome on a narrow terminal', () => {
    expect(lines({ ...CALL, outcome: 'ERR_CLAIM_HELD' }, { width: 44, colors: plain })).toEqual([
      ' #1042 22:15:30 claude T-0001',
      '       task_update ERR_CLAIM_HELD 7 ms {"ti…',
    ]);
  });

  promiseTest(
    'cli/log-columns',
    'keeps the task beside a long name, and dates each day where lines have no date',
    () => {
      const call = { ...CALL, actor: 'claude-code-on-the-build-server' };
      expect(lines(call, { width: 40, colors: plain })[0]).toBe(' #1042 22:15:30 claude-code-on-t… T-0001');
      const days = ['2026-04-08', '2026-04-08', '2026-04-09'].map((day) => ({
        ...CALL,
        entered_at: `${day}T22:15:30.123Z`,
      }));
      const heads = (width: number | undefined) => {
        const view = createCallView({ width, colors: plain }, true);
        return days.flatMap(view).filter((line) => /^\d/.test(line));
      };
      expect([heads(80), heads(120), heads(undefined)]).toEqual([['2026-04-08', '2026-04-09'], [], []]);
    },
  );

  it.each([
    ['ok', 32],
    ['running', 33],
    ['interrupted', 31],
    ['ERR_NOT_FOUND', 31],
  ])('colors the outcome %s', (outcome, code) => {
    const line = render({ ...CALL, outcome, duration_ms: null }, { width: 200, colors: createStyles(true) });
    expect(toTerminal(line)).toContain(`\u001b[${code}m${outcome}`);
  });

  it('escapes control characters in the arguments', () => {
    const hostile = { ...CALL, tool: 'x\u001b[2J', actor: '\u009b', arguments: '"\u0085\u202e"' };
    expect(render(hostile, { width: undefined, colors: plain })).not.toMatch(/\p{Cc}|\u202e/u);
  });
});
