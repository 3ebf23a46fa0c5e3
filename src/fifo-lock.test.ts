import { describe, expect, it } from 'vitest';
import { FifoLock } from './fifo-lock.ts';

const pause = () => new Promise((resolve) => setImmediate(resolve));

describe('the lock', () => {
  it('runs one task at a time, in order of arrival', async () => {
    const lock = new FifoLock();
    const story: string[] = [];
    const work = (name: string, turns: number) => async () => {
      story.push(`${name} begins`);
      for (let turn = 0; turn < turns; turn += 1) await pause();
      story.push(`${name} ends`);
      return name;
    };
    const results = await Promise.all([lock.run(work('a', 3)), lock.run(work('b', 0)), lock.run(work('c', 1))]);
    expect(results).toEqual(['a', 'b', 'c']);
    expect(story).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('rejects only the caller whose task failed', async () => {
    const lock = new FifoLock();
    const failing = lock.run(() => Promise.reject(new Error('mine')));
    const throwing = lock.run(() => {
      throw new Error('also mine');
    });
    const next = lock.run(async () => 'fine');
    await expect(failing).rejects.toThrow('mine');
    await expect(throwing).rejects.toThrow('also mine');
    expect(await next).toBe('fine');
  });

  it('becomes idle when every queued task has ended, even by a failure', async () => {
    const lock = new FifoLock();
    let isDone = false;
    const work = lock.run(async () => {
      await pause();
      isDone = true;
      throw new Error('no');
    });
    const failure = expect(work).rejects.toThrow('no');
    await lock.idle();
    expect(isDone).toBe(true);
    await failure;
    await new FifoLock().idle();
  });

  it('drops a task whose signal aborts before it begins, and runs the next', async () => {
    const lock = new FifoLock();
    const story: string[] = [];
    const signals = [new AbortController(), new AbortController(), new AbortController()] as const;
    const run = (name: string, signal?: AbortSignal) =>
      lock
        .run(async () => {
          story.push(`${name} begins`);
          await pause();
          story.push(`${name} ends`);
        }, signal)
        .catch((reason: unknown) => story.push(`${name}: ${String(reason)}`));
    const work = [run('a', signals[0].signal), run('b', signals[1].signal), run('c'), run('d', signals[2].signal)];
    await Promise.resolve();
    signals[1].abort('cancelled');
    await Promise.resolve();
    await Promise.resolve();
    expect(story).toEqual(['a begins', 'b: cancelled']);
    // Work that has started runs to completion.
    signals[0].abort('too late');
    signals[2].abort('cancelled too');
    await Promise.all([...work, run('e', AbortSignal.abort('from the start'))]);
    await lock.idle();
    expect(story.filter((line) => !line.includes(':'))).toEqual(['a begins', 'a ends', 'c begins', 'c ends']);
    expect(story).toEqual(expect.arrayContaining(['d: cancelled too', 'e: from the start']));
    expect(await lock.run(async () => 'free')).toBe('free');
  });
});
