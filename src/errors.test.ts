import { describe, expect, it } from 'vitest';
import { render } from './envelope.ts';
import { ColibriError } from './errors.ts';

const advised = new ColibriError('ERR_NOT_FOUND', 'no task T-0009', { taskId: 'T-0009' }, { advice: 'call task_list' });

describe('an error with advice', () => {
  it('keeps the problem and the advice apart, and joins them in its message', () => {
    expect(advised).toMatchObject({
      problem: 'no task T-0009',
      advice: 'call task_list',
      message: 'no task T-0009; call task_list',
    });
  });

  it.each(['A', 'B'] as const)('reaches a client of pattern %s as one text', (pattern) => {
    const { text } = render(pattern, { ok: false, error: advised, thrown: advised });
    expect(text).toContain('no task T-0009; call task_list"');
    expect(text).not.toContain('"advice"');
  });

  it('has the problem alone as its message without advice', () => {
    expect(new ColibriError('CANCELLED', 'the client cancelled the call').message).toBe(
      'the client cancelled the call',
    );
  });

  it('keeps the cause', () => {
    const cause = new Error('disk');
    expect(new ColibriError('INTERNAL', 'a bug', {}, { advice: 'read the log', cause }).cause).toBe(cause);
  });
});
