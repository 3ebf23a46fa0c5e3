/** Runs one task at a time, in order of arrival. A failure rejects only its own caller. */
export class FifoLock {
  readonly #waiting = new Set<() => void>();
  #isHeld = false;

  /** Rejects with the abort reason, without running `work`, if the signal aborts before the lock is acquired. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.#acquire(signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Resolves when everything queued before this call has ended. */
  async idle(): Promise<void> {
    await this.run(() => Promise.resolve());
  }

  #acquire(signal: AbortSignal | undefined): Promise<void> {
    if (!this.#isHeld) {
      this.#isHeld = true;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(begin);
        reject(signal?.reason as Error);
      };
      if (signal?.aborted) return leave();
      this.#waiting.add(begin);
      signal?.addEventListener('abort', leave);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#isHeld = false;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
