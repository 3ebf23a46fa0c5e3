/** One piece of work at a time, first come, first served. A failure passes to its own caller and to nobody behind it. */
export class FifoLock {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when everything that was waiting at the time of the call is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
