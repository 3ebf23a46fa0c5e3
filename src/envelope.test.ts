import { describe, expect, it } from 'vitest';
import { promiseTest } from '../test/support/promise-test.ts';
import { internalError, render } from './envelope.ts';
import { ColibriError, type ErrorCode, RULE_CODES, STAGE_CODES } from './errors.ts';

function fail(pattern: 'A' | 'B', code: ErrorCode) {
  const error = new ColibriError(code, 'what to do', { taskId: 'T-0001' });
  return render(pattern, { ok: false, error, thrown: error });
}

describe('an answer', () => {
  for (const pattern of ['A', 'B'] as const) {
    it(`renders a success identically in pattern ${pattern}`, () => {
      const structuredContent = { ok: true, data: { id: 'T-0001' } };
      expect(render(pattern, { ok: true, data: { id: 'T-0001' } })).toEqual({
        structuredContent,
        text: JSON.stringify(structuredContent),
        isError: false,
      });
    });

    promiseTest('chain/patterns', `every stage code is at the top level in pattern ${pattern}`, () => {
      for (const code of STAGE_CODES) {
        const { structuredContent, text, isError } = fail(pattern, code);
        expect(structuredContent).toEqual({
          ok: false,
          error: { code, message: 'what to do', details: { taskId: 'T-0001' } },
        });
        expect({ isError, text }).toEqual({
          isError: true,
          text: `${code}: what to do.\n${JSON.stringify(structuredContent)}`,
        });
      }
    });
  }

  promiseTest('chain/patterns', 'every rule code in pattern A', () => {
    for (const code of RULE_CODES) {
      expect(fail('A', code).structuredContent).toEqual({
        ok: false,
        error: { code: 'HANDLER_ERROR', message: `${code}: what to do`, details: { code, taskId: 'T-0001' } },
      });
    }
  });

  promiseTest('chain/patterns', 'every rule code in pattern B', () => {
    for (const code of RULE_CODES) {
      expect(fail('B', code)).toMatchObject({
        structuredContent: { ok: true, data: { ok: false, error: { code, message: 'what to do', taskId: 'T-0001' } } },
        isError: true,
      });
    }
  });

  promiseTest('chain/first-line', 'the text of a failure begins with one sentence, whatever data it quotes', () => {
    const hostile = 'no task T\u2028\n9\u001b[2J\ud800; call task_list';
    for (const pattern of ['A', 'B'] as const) {
      const error = new ColibriError('ERR_NOT_FOUND', hostile, {});
      const { text, structuredContent } = render(pattern, { ok: false, error, thrown: error });
      expect(text.split('\n')).toEqual([
        'ERR_NOT_FOUND: no task T\\u2028\\n9\\u001b[2J\\ud800; call task_list.',
        JSON.stringify(structuredContent),
      ]);
    }
  });

  it('reports a bug with its correlation id and hides the cause', () => {
    const cause = new Error('a secret message');
    const error = internalError('0123-id', cause);
    expect(error.cause).toBe(cause);
    expect(render('A', { ok: false, error, thrown: cause }).text).toContain('0123-id');
    expect(render('A', { ok: false, error, thrown: cause }).text).not.toContain('secret');
  });
});
