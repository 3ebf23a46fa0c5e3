import { describe, expect, it } from 'vitest';
import type { Action } from '../../ledger/calls/actions.ts';
import { createStyles, toTerminal } from '../../terminal-text.ts';
import { renderAction } from './log.ts';
import { displayWidth } from './text-width.ts';

const CALL: Action = {
  sequence_no: 1042,
  tool: 'task_update',
  actor: 'claude',
  entered_at: '2026-04-08T22:15:30.123Z',
  exited_at: '2026-04-08T22:15:30.130Z',
  outcome: 'ok',
  duration_ms: 7,
  arguments: '{"task_id":"T-0001","title":"日本語の領収書 🧾 and so on"}',
  result_digest: null,
};
const plain = createStyles(false);

describe('renderAction', () => {
  it('is not cut without a terminal', () => {
    expect(renderAction(CALL, { width: undefined, colors: plain })).toBe(
      ` #1042 2026-04-08 22:15:30Z claude         task_update         ok 7 ms ${CALL.arguments}`,
    );
  });

  it.each([20, 40, 60, 80, 100, 200])('is at most %i columns wide', (width) => {
    for (const outcome of ['ok', 'running', 'ERR_WRITEBACK_REQUIRED']) {
      const line = renderAction({ ...CALL, outcome }, { width, colors: plain });
      expect(displayWidth(line)).toBeLessThanOrEqual(width);
      expect(line).toContain('#1042');
    }
  });

  it('has no padding on a narrow terminal', () => {
    expect(renderAction(CALL, { width: 44, colors: plain })).toBe(' #1042 22:15:30 claude task_update ok 7 ms …');
  });

  it.each([
    ['ok', 32],
    ['running', 33],
    ['interrupted', 31],
    ['ERR_NOT_FOUND', 31],
  ])('colors the outcome %s', (outcome, code) => {
    const line = renderAction({ ...CALL, outcome, duration_ms: null }, { width: 200, colors: createStyles(true) });
    expect(toTerminal(line)).toContain(`\u001b[${code}m${outcome}`);
  });

  it('escapes control characters in the arguments', () => {
    const hostile = { ...CALL, tool: 'x\u001b[2J', actor: '\u009b', arguments: '"\u0085\u202e"' };
    expect(renderAction(hostile, { width: undefined, colors: plain })).not.toMatch(/\p{Cc}|\u202e/u);
  });
});
