/** One piece of work at a time, first come, first served. A failure passes to its own caller and to nobody behind it. */
export class FifoLock {
  readonly #waiting = new Set<() => void>();
  #isHeld = false;

  /** Work whose signal aborts before it begins is dropped: its caller gets the reason, and nothing is kept of it. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.#takeTurn(signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#passOn();
    }
  }

  /** Resolves when everything that was waiting at the time of the call is done. */
  async idle(): Promise<void> {
    await this.run(() => Promise.resolve());
  }

  #takeTurn(signal: AbortSignal | undefined): Promise<void> {
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

  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#isHeld = false;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
