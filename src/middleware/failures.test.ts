import { describe, expect, it } from 'vitest';
import { call, openMemoryServer } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import { ColibriError } from '../errors.ts';

const broken = new ColibriError('ERR_TASK_NOT_FOUND', 'no task T-0099', { taskId: 'T-0099' });

describe('a rule that fails', () => {
  promiseTest('chain/failure-exit', 'the same error object, and no result', async () => {
    const { client, sink } = await openMemoryServer({ tools: (register) => register('fails', () => raise(broken)) });
    await call(client, 'fails');
    expect(sink.exits[0]?.error).toBe(broken);
    expect(sink.exits[0]).not.toHaveProperty('result');
    expect(sink.exits[0]?.outcome).toBe('ERR_TASK_NOT_FOUND');
  });

  promiseTest(
    'chain/patterns',
    'pattern A puts it at the top level, with the code as prefix and in details',
    async () => {
      const { client } = await openMemoryServer({ tools: (register) => register('fails', () => raise(broken)) });
      const { ok, error, isError, text } = await call(client, 'fails');
      expect({ ok, isError }).toEqual({ ok: false, isError: true });
      expect(error).toEqual({
        code: 'HANDLER_ERROR',
        message: 'ERR_TASK_NOT_FOUND: no task T-0099',
        details: { code: 'ERR_TASK_NOT_FOUND', taskId: 'T-0099' },
      });
      expect(text.split('\n')).toEqual(['ERR_TASK_NOT_FOUND: no task T-0099.', JSON.stringify({ ok, error })]);
    },
  );

  promiseTest('chain/patterns', 'pattern B puts it inside data, with the facts beside the code', async () => {
    const { client } = await openMemoryServer({
      tools: (register) => register('fails', () => raise(broken), { errorPattern: 'B' }),
    });
    const { ok, data, isError } = await call(client, 'fails');
    expect({ ok, isError }).toEqual({ ok: true, isError: true });
    expect(data).toEqual({
      ok: false,
      error: { code: 'ERR_TASK_NOT_FOUND', message: 'no task T-0099', taskId: 'T-0099' },
    });
  });

  promiseTest('chain/patterns', 'a failed stage is at the top level in both patterns', async () => {
    const { client, sink } = await openMemoryServer({
      tools: (register) => {
        register('strict', undefined, { errorPattern: 'B' });
        register('bug', () => raise(new Error('secret')), { errorPattern: 'B' });
        register('works', undefined, { errorPattern: 'B' });
      },
    });
    expect((await call(client, 'strict', { extra: 1 })).error?.code).toBe('INVALID_PARAMS');
    expect((await call(client, 'bug')).error?.code).toBe('INTERNAL');
    sink.exitThrows = new Error('no');
    expect((await call(client, 'works')).error?.code).toBe('AUDIT_EXIT_FAILED');
    sink.enterThrows = new Error('no');
    expect((await call(client, 'works')).error?.code).toBe('AUDIT_ENTER_FAILED');
  });
});

describe('a bug in a tool', () => {
  const thrown: [string, unknown][] = [
    ['a string', 'a secret string'],
    ['an error', new Error('a secret message')],
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('a secret symbol')],
    ['an object without a text', Object.create(null)],
    ['an error that is its own cause', circular()],
  ];
  for (const [what, value] of thrown) {
    promiseTest('chain/internal', `a tool throws ${what}`, async () => {
      const { client, sink, log } = await openMemoryServer({
        tools: (register) => register('bug', () => raise(value)),
      });
      const { ok, error, isError, text } = await call(client, 'bug');
      expect({ ok, isError }).toEqual({ ok: false, isError: true });
      expect(error?.code).toBe('INTERNAL');
      expect(text).not.toMatch(/secret|failures\.test/);
      expect(error?.message).toContain(sink.exits[0]?.correlationId);
      expect(sink.exits[0]?.error).toBeInstanceOf(Error);
      expect(log).toContainEqual(expect.objectContaining({ level: 'error', event: 'bug' }));
    });
  }

  promiseTest('chain/internal', 'the log has the stack under the correlation id that the client got', async () => {
    const { client, log } = await openMemoryServer({
      tools: (register) => register('bug', () => raise('a secret string')),
    });
    const { error } = await call(client, 'bug');
    const line = log.find(({ event }) => event === 'bug') as { correlationId: string; error: { stack: string } };
    expect(line.correlationId).toBe(error?.details?.['correlationId']);
    expect(line.error.stack).toMatch(/a secret string\n\s+at /);
  });

  const unwritable: [string, unknown][] = [
    ['a BigInt', { big: 1n }],
    ['a cycle', circular()],
    ['a toJSON that throws', { toJSON: () => raise(new Error('a secret message')) }],
  ];
  for (const [what, value] of unwritable) {
    promiseTest('chain/internal', `a tool returns ${what}`, async () => {
      const { client, sink } = await openMemoryServer({ tools: (register) => register('bug', () => ({ value })) });
      const { error, text } = await call(client, 'bug');
      expect(error?.code).toBe('INTERNAL');
      expect(text).not.toMatch(/secret|BigInt|circular/);
      expect(sink.story).toEqual(['enter bug', 'exit bug INTERNAL']);
    });
  }

  it('includes facts of a failed rule that have no JSON text', async () => {
    const error = new ColibriError('ERR_NOT_FOUND', 'no', { big: 1n });
    const { client, sink } = await openMemoryServer({ tools: (register) => register('bug', () => raise(error)) });
    expect((await call(client, 'bug')).error?.code).toBe('INTERNAL');
    expect(sink.story).toEqual(['enter bug', 'exit bug INTERNAL']);
  });
});

describe('a sink that fails', () => {
  promiseTest('chain/enter-fails', 'the answer is AUDIT_ENTER_FAILED', async () => {
    let runs = 0;
    const work = () => {
      runs += 1;
      return { runs };
    };
    const { client, sink } = await openMemoryServer({ tools: (register) => register('work', work) });
    sink.enterThrows = new Error('the disk is full');
    const { ok, error, isError } = await call(client, 'work');
    expect({ ok, isError, runs }).toEqual({ ok: false, isError: true, runs: 0 });
    expect(error?.code).toBe('AUDIT_ENTER_FAILED');
    expect(error?.message).toMatch(/work did not run: the disk is full/);
    expect(sink.story).toEqual(['exit work AUDIT_ENTER_FAILED']);
    sink.enterThrows = undefined;
    expect((await call(client, 'work')).data).toEqual({ runs: 1 });
  });

  promiseTest('chain/enter-fails', 'also when the sink throws a string', async () => {
    const { client, sink } = await openMemoryServer({ tools: (register) => register('work') });
    sink.enterThrows = 'just a string';
    expect((await call(client, 'work')).error?.code).toBe('AUDIT_ENTER_FAILED');
  });

  promiseTest('chain/exit-fails', 'after a success the answer is AUDIT_EXIT_FAILED', async () => {
    const { client, sink, log } = await openMemoryServer({ tools: (register) => register('work') });
    sink.exitThrows = new Error('the disk is full');
    const { ok, data, error, isError } = await call(client, 'work');
    expect({ ok, data, isError }).toEqual({ ok: false, data: undefined, isError: true });
    expect(error?.code).toBe('AUDIT_EXIT_FAILED');
    expect(error?.message).toContain('the disk is full');
    expect(log).toContainEqual(expect.objectContaining({ level: 'error', event: 'audit exit failed', tool: 'work' }));
  });

  promiseTest(
    'chain/exit-fails',
    'after one failed attempt the recorded outcome is the one the client got',
    async () => {
      const { client, sink } = await openMemoryServer({ tools: (register) => register('work') });
      const exit = sink.exit.bind(sink);
      sink.exit = (event) => {
        sink.exit = exit;
        throw new Error(`not now, ${event.tool}`);
      };
      expect((await call(client, 'work')).error?.code).toBe('AUDIT_EXIT_FAILED');
      expect(sink.story).toEqual(['enter work', 'exit work AUDIT_EXIT_FAILED']);
    },
  );

  promiseTest(
    'chain/exit-fails',
    "after a failure the client gets the tool's own error and the log gets the audit's",
    async () => {
      const { client, sink, log } = await openMemoryServer({
        tools: (register) => register('fails', () => raise(broken)),
      });
      sink.exitThrows = new Error('the disk is full');
      expect((await call(client, 'fails')).error?.message).toBe('ERR_TASK_NOT_FOUND: no task T-0099');
      const line = log.find(({ event }) => event === 'audit exit failed') as { error: { message: string } };
      expect(line.error.message).toBe('the disk is full');
    },
  );

  it('does not stop the server', async () => {
    const { client, sink } = await openMemoryServer({ tools: (register) => register('work') });
    sink.enterThrows = new Error('no');
    sink.exitThrows = new Error('no');
    expect((await call(client, 'work')).error?.code).toBe('AUDIT_ENTER_FAILED');
    sink.enterThrows = undefined;
    sink.exitThrows = undefined;
    expect((await call(client, 'work')).ok).toBe(true);
  });
});

function raise(value: unknown): never {
  throw value;
}

function circular(): Error {
  const error = new Error('a secret circle');
  error.cause = error;
  return Object.assign(error, { self: error });
}
