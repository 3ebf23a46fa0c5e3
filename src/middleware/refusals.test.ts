import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { type Answered, call, openMemoryServer } from '../../test/support/memory-server.ts';
import { promiseTest } from '../../test/support/promise-test.ts';

interface Issue {
  readonly path: (string | number)[];
  readonly message: string;
}

const inputSchema = z.strictObject({
  title: z.string().min(1),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

function issuesOf(answer: Answered): Issue[] {
  return answer.error?.details?.['issues'] as Issue[];
}

function openWithTool() {
  return openMemoryServer({ tools: (register) => register('work', undefined, { inputSchema }) });
}

describe('an input that the schema refuses', () => {
  promiseTest('chain/invalid-pair', 'the exit carries the code and the error', async () => {
    const { client, sink } = await openWithTool();
    const { ok, error, isError } = await call(client, 'work', {});
    expect({ ok, isError, code: error?.code }).toEqual({ ok: false, isError: true, code: 'INVALID_PARAMS' });
    expect(sink.story).toEqual(['enter work', 'exit work INVALID_PARAMS']);
    expect(sink.exits[0]?.correlationId).toBe(sink.enters[0]?.correlationId);
    expect(sink.exits[0]?.error).toBeInstanceOf(Error);
    expect(sink.exits[0]).not.toHaveProperty('result');
  });

  promiseTest('chain/invalid-issues', 'each has a path', async () => {
    const { client } = await openWithTool();
    const answer = await call(client, 'work', { tags: ['a', 5], title: '', color: 'red', size: 1 });
    expect(issuesOf(answer).map(({ path }) => path.join('.'))).toEqual(
      expect.arrayContaining(['title', 'tags.1', 'color', 'size']),
    );
    expect(issuesOf(answer)).toHaveLength(4);
    for (const { message } of issuesOf(answer)) expect(message).not.toBe('');
    expect(answer.error?.message).toMatch(/^work: .*\(and 1 more\)$/);
  });

  promiseTest('chain/invalid-issues', 'at most 50 are listed', async () => {
    const { client } = await openWithTool();
    const answer = await call(client, 'work', { title: 'x', tags: Array.from({ length: 5000 }, () => 1) });
    expect(issuesOf(answer)).toHaveLength(50);
    expect(answer.error?.message).toContain('(and 4997 more)');
  });

  it('does not reach the tool', async () => {
    const work = vi.fn();
    const { client } = await openMemoryServer({ tools: (register) => register('work', work, { inputSchema }) });
    await call(client, 'work', { title: 5 });
    expect(work).not.toHaveBeenCalled();
  });

  it('answers INTERNAL if the schema itself throws', async () => {
    const throwing = z.strictObject({}).transform(() => {
      throw new Error('a secret message');
    });
    const schema = z.strictObject({ inner: throwing.optional() });
    const { client, sink } = await openMemoryServer({
      tools: (register) => register('work', undefined, { inputSchema: schema }),
    });
    const { error, text } = await call(client, 'work', { inner: {} });
    expect(error?.code).toBe('INTERNAL');
    expect(text).not.toContain('secret');
    expect(sink.story).toEqual(['enter work', 'exit work INTERNAL']);
  });
});

describe('an input without canonical JSON', () => {
  const cases: [string, Record<string, unknown>, string, RegExp][] = [
    ['a lone high surrogate', { title: 'a\ud800b' }, 'title', /surrogate/],
    ['a lone low surrogate', { title: 'x', tags: ['\udc00'] }, 'tags.0', /surrogate/],
    ['a lone surrogate in a key', { title: 'x', metadata: { '\ud800': 1 } }, 'metadata.\ufffd', /surrogate/],
    ['an integer beyond 2^53', { title: 'x', metadata: { n: 2 ** 53 } }, 'metadata.n', /2\^53/],
    ['an integer below -2^53', { title: 'x', metadata: { n: -(2 ** 53) } }, 'metadata.n', /2\^53/],
    ['an integer far beyond', { title: 'x', metadata: { n: 1e300 } }, 'metadata.n', /2\^53/],
    ['deep nesting', { title: 'x', metadata: nested(80) }, 'metadata.in.in', /deeper than 64/],
    ['deep arrays', { title: 'x', metadata: { a: nestedArrays(5000) } }, 'metadata.a.0', /deeper than 64/],
  ];
  for (const [what, args, path, reason] of cases) {
    promiseTest('chain/not-canonical', what, async () => {
      const { client, sink } = await openWithTool();
      const answer = await call(client, 'work', args);
      expect(answer.error?.code).toBe('INVALID_PARAMS');
      expect(issuesOf(answer)).toHaveLength(1);
      expect(issuesOf(answer)[0]?.path.join('.')).toBe(path);
      expect(issuesOf(answer)[0]?.message).toMatch(reason);
      expect(sink.story).toEqual(['enter work', 'exit work INVALID_PARAMS']);
      expect(sink.enters[0]?.argumentsText).toMatch(/^\{"refused":"/);
      expect(sink.enters[0]?.argumentsText.isWellFormed()).toBe(true);
    });
  }

  promiseTest('chain/not-canonical', '2^53 - 1 and 64 levels are accepted', async () => {
    const { client } = await openWithTool();
    const metadata = { least: -(2 ** 53 - 1), most: 2 ** 53 - 1, half: 0.5, deep: nested(61), pair: '😀' };
    expect((await call(client, 'work', { title: 'x', metadata })).ok).toBe(true);
  });

  promiseTest('chain/not-canonical', 'a key named __proto__ is plain data', async () => {
    const { client, sink } = await openWithTool();
    const args = JSON.parse('{"title":"x","metadata":{"__proto__":{"polluted":true}}}') as Record<string, unknown>;
    await call(client, 'work', args);
    expect(sink.enters[0]?.argumentsText).toContain('__proto__');
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('recorded arguments', () => {
  it('truncates recorded arguments, with the length and digest of the whole', async () => {
    const { client, sink } = await openWithTool();
    await call(client, 'work', { title: `${'x'.repeat(2030)}${'😀'.repeat(3000)}` });
    const text = sink.enters[0]?.argumentsText ?? '';
    expect(text.length).toBeLessThan(4096);
    expect(text.isWellFormed()).toBe(true);
    expect(JSON.parse(text)).toMatchObject({
      cut: true,
      length: 8042,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('sorts the keys of recorded arguments', async () => {
    const { client, sink } = await openWithTool();
    await call(client, 'work', { title: 'x', metadata: { b: 1, a: 2 } });
    await call(client, 'work', { metadata: { a: 2, b: 1 }, title: 'x' });
    expect(sink.enters[0]?.argumentsText).toBe('{"metadata":{"a":2,"b":1},"title":"x"}');
    expect(sink.enters[1]?.argumentsText).toBe(sink.enters[0]?.argumentsText);
  });
});

describe('an unknown tool', () => {
  const names: [string, string, string][] = [
    ['a plain name', 'nothing', 'nothing'],
    ['an empty name', '', ''],
    ['the name of an Object property', 'constructor', 'constructor'],
    ['a name that is too long', 'n'.repeat(5000), 'n'.repeat(128)],
    ['a lone surrogate as the name', '\ud800', '\ufffd'],
    ['a name truncated inside a surrogate pair', `${'n'.repeat(127)}😀`, `${'n'.repeat(127)}\ufffd`],
  ];
  for (const [what, name, recorded] of names) {
    promiseTest('chain/unknown-tool', what, async () => {
      const { client, sink } = await openWithTool();
      const failure = await client.callTool({ name, arguments: {} }).then(
        () => undefined,
        (error: unknown) => error as { code: number; message: string },
      );
      expect(failure?.code).toBe(-32602);
      expect(failure?.message).toContain(`Unknown tool: ${recorded}`);
      expect(failure?.message.length).toBeLessThan(300);
      expect(sink.story).toEqual([`enter ${recorded}`, `exit ${recorded} UNKNOWN_TOOL`]);
      expect(sink.exits[0]?.answerText).toBe('');
    });
  }
});

function nested(depth: number): Record<string, unknown> {
  return depth === 0 ? {} : { in: nested(depth - 1) };
}

function nestedArrays(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
