import { setTimeout as sleep } from 'node:timers/promises';

const MIN_DELAY_MS = 1;
/** How often every live process could hold the lock during the mean delay. */
const TURNS = 1.5;
const MAX_DELAY_MS = 50;
const RECOUNT_MS = 1000;
/** A longer transaction was suspended, and does not represent the others. */
const MAX_HOLD_MS = 10;
/** The weight of the newest transaction in the moving average. */
const WEIGHT = 0.05;

/**
 * Retries while the lock is busy, without blocking the event loop. SQLite's own busy handler blocks it, and can starve
 * a writer forever. Throws the last error after the timeout, and any other error at once.
 */
export async function retryWhileBusy<Result>(
  attempt: () => Result,
  isBusy: (error: unknown) => boolean,
  wait: LockWait,
  timeoutMs: number,
): Promise<Result> {
  const start = performance.now();
  for (let failed = 0; ; failed += 1) {
    try {
      return withoutStackTraces(attempt);
    } catch (error) {
      const waitedMs = performance.now() - start;
      if (!isBusy(error) || waitedMs > timeoutMs) throw error;
      await sleep(wait.delayMs(failed, waitedMs));
    }
  }
}

/** Capturing the stack trace of a busy error costs three times as much as the attempt. */
function withoutStackTraces<Result>(attempt: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return attempt();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export interface LockWaitOptions {
  /** How many processes have this database open. */
  readonly countProcesses: () => number;
  readonly nowMs?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/**
 * When to retry SQLite's write lock, which notifies no waiter when it is released. Retrying too rarely leaves it idle;
 * retrying too often takes processor time from its holder, because every wake-up costs about a fifth of a transaction.
 * The mean delay follows from the time in which every live process could hold the lock once, so that a similar share of
 * the retries succeeds whatever the number of processes. Delays are randomized, so that no two processes stay in step.
 */
export class LockWait {
  readonly #options: Required<LockWaitOptions>;
  #holdMs = 0.5;
  #processes = 1;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LockWaitOptions) {
    this.#options = { nowMs: () => performance.now(), random: Math.random, ...options };
  }

  /** The delay before the next attempt of a transaction that has failed so often and waited so long. */
  delayMs(failedAttempts: number, waitedMs: number): number {
    // A transaction that lost several times retries up to twice as often, so that it does not starve.
    const turnMs = (TURNS * this.#countProcesses() * this.#holdMs) / (1 + Math.min(failedAttempts, 8) / 8);
    // A lock that is held far longer than usual is stuck; retrying at the usual rate would be wasted.
    const meanMs = Math.min(Math.max(turnMs, waitedMs / 32, MIN_DELAY_MS), MAX_DELAY_MS);
    return meanMs * (0.5 + this.#options.random());
  }

  /** Learns from a transaction of this process how long the lock is held. */
  observeHold(heldMs: number): void {
    this.#holdMs += (Math.min(heldMs, MAX_HOLD_MS) - this.#holdMs) * WEIGHT;
  }

  #countProcesses(): number {
    const nowMs = this.#options.nowMs();
    if (nowMs - this.#countedAtMs > RECOUNT_MS) {
      this.#processes = this.#options.countProcesses();
      this.#countedAtMs = nowMs;
    }
    return this.#processes;
  }
}
