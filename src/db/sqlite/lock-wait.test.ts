import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { seededRandom } from '../../../test/support/random.ts';
import { LockWait, retryWhileBusy } from './lock-wait.ts';

const BUSY = new Error('busy');

describe('the delay between two attempts', () => {
  for (const processes of [1, 4, 12, 32, 1000]) {
    promiseTest('store/no-spin', `never approaches zero with ${processes} processes`, () => {
      const wait = new LockWait({ countProcesses: () => processes, random: () => 0 });
      for (let failed = 0; failed < 1000; failed += 1) expect(wait.delayMs(failed, 0)).toBeGreaterThanOrEqual(0.5);
    });

    promiseTest('store/no-spin', `stays short enough to answer soon with ${processes} processes`, () => {
      const wait = new LockWait({ countProcesses: () => processes, random: () => 1 });
      for (const waitedMs of [0, 10, 1000, 9999]) expect(wait.delayMs(3, waitedMs)).toBeLessThanOrEqual(75);
    });

    promiseTest('store/no-spin', `a lock that is stuck for 10 s costs ${processes} processes few attempts each`, () => {
      const wait = new LockWait({ countProcesses: () => processes, random: seededRandom(1) });
      let [attempts, waitedMs] = [0, 0];
      for (; waitedMs < 10_000; attempts += 1) waitedMs += wait.delayMs(attempts, waitedMs);
      expect(attempts).toBeLessThan(400);
    });
  }

  promiseTest('store/no-spin', 'grows with the number of live processes and with the time they hold the lock', () => {
    const mean = (processes: number, heldMs: number) => {
      const wait = new LockWait({ countProcesses: () => processes, random: () => 0.5 });
      for (let transaction = 0; transaction < 200; transaction += 1) wait.observeHold(heldMs);
      return wait.delayMs(0, 0);
    };
    expect(mean(32, 1)).toBeGreaterThan(mean(12, 1));
    expect(mean(12, 2)).toBeGreaterThan(mean(12, 1));
    expect(mean(12, 1)).toBeCloseTo(18, 1);
  });

  promiseTest('store/no-spin', 'is not misled by one transaction that was suspended for hours', () => {
    const wait = new LockWait({ countProcesses: () => 4, random: () => 0.5 });
    const usualMs = wait.delayMs(0, 0);
    wait.observeHold(3 * 3600 * 1000);
    expect(wait.delayMs(0, 0)).toBeLessThan(2 * usualMs);
  });

  promiseTest('store/no-spin', 'counts the processes once a second, not at every attempt', () => {
    let [counted, nowMs] = [0, 0];
    const wait = new LockWait({ countProcesses: () => (counted += 1), nowMs: () => nowMs });
    for (; nowMs < 3000; nowMs += 10) wait.delayMs(1, 0);
    expect(counted).toBe(3);
  });
});

describe('many processes that never pause', () => {
  for (const processes of [2, 4, 12, 32]) {
    promiseTest('store/fair', `${processes} of them get about the same share of the lock`, () => {
      const { counts, attempts } = simulate(processes, { holdMs: 0.5, thinkMs: 0.5, untilMs: 20_000 });
      const total = counts.reduce((sum, count) => sum + count, 0);
      expect(Math.min(...counts)).toBeGreaterThan((0.8 * total) / processes);
      expect(attempts / total).toBeLessThan(4);
    });
  }
});

/**
 * Simulates processes that take the lock, hold it, pause and return. Events are in time order; the caller takes a free
 * lock.
 */
function simulate(
  processes: number,
  { holdMs, thinkMs, untilMs }: { holdMs: number; thinkMs: number; untilMs: number },
) {
  const random = seededRandom(processes);
  const waits = Array.from({ length: processes }, () => new LockWait({ countProcesses: () => processes, random }));
  const state = waits.map(() => ({ nextMs: random(), failed: 0, sinceMs: 0, count: 0 }));
  let [freeAtMs, attempts] = [0, 0];
  for (;;) {
    const index = state.reduce((best, { nextMs }, at) => (nextMs < (state[best]?.nextMs ?? 0) ? at : best), 0);
    const process = state[index] as (typeof state)[number];
    const nowMs = process.nextMs;
    if (nowMs > untilMs) return { counts: state.map(({ count }) => count), attempts };
    attempts += 1;
    if (process.failed === 0) process.sinceMs = nowMs;
    if (nowMs < freeAtMs) {
      process.nextMs = nowMs + (waits[index]?.delayMs(process.failed, nowMs - process.sinceMs) ?? 0);
      process.failed += 1;
    } else {
      freeAtMs = nowMs + holdMs;
      Object.assign(process, { nextMs: freeAtMs + thinkMs * (0.5 + random()), failed: 0, count: process.count + 1 });
    }
  }
}

describe('an attempt', () => {
  const wait = new LockWait({ countProcesses: () => 1, random: () => 0 });
  const isBusy = (error: unknown) => error === BUSY;

  promiseTest('store/turns', 'is repeated while the lock is busy', async () => {
    let left = 3;
    const attempt = () => {
      left -= 1;
      if (left > 0) throw BUSY;
      return 'taken';
    };
    expect(await retryWhileBusy(attempt, isBusy, wait, 10_000)).toBe('taken');
  });

  promiseTest('store/turns', 'ends with the busy error when its time is up', async () => {
    const attempt = () => {
      throw BUSY;
    };
    await expect(retryWhileBusy(attempt, isBusy, wait, 0)).rejects.toBe(BUSY);
  });

  promiseTest(
    'store/turns',
    'is not repeated after any other error, and later errors have stack traces again',
    async () => {
      let attempts = 0;
      const attempt = () => {
        attempts += 1;
        throw new TypeError('a bug');
      };
      const limit = Error.stackTraceLimit;
      await expect(retryWhileBusy(attempt, isBusy, wait, 10_000)).rejects.toThrow('a bug');
      expect(attempts).toBe(1);
      expect(Error.stackTraceLimit).toBe(limit);
    },
  );
});
