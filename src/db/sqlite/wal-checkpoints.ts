/** About 800 pages of 4 KiB: a call makes two commits, of 13 pages together. */
const COMMITS_BETWEEN = 120;
/** Above this size a RESTART checkpoint blocks other processes until the WAL can be reset. */
const LONG_WAL_PAGES = 2000;

/** What SQLite answers to `PRAGMA wal_checkpoint`. */
export interface CheckpointResult {
  /** The pages in the WAL. Those that no reader needs are now in the database too. */
  readonly pages: number;
}

/**
 * Schedules WAL checkpoints, which copy the log into the database file and flush both. SQLite's own rule is "after
 * every commit while the log is long"; but while many processes write, SQLite rarely resets the WAL, so that rule makes
 * almost every commit wait for the disk. Here each process runs a checkpoint after a number of its own commits,
 * whatever the number of processes, and between two calls.
 */
export class WalCheckpoints {
  readonly #checkpoint: (mode: 'PASSIVE' | 'RESTART') => Promise<CheckpointResult>;
  #commits = 0;

  /** `checkpoint` runs on the connection once it is free. */
  constructor(checkpoint: (mode: 'PASSIVE' | 'RESTART') => Promise<CheckpointResult>) {
    this.#checkpoint = checkpoint;
  }

  /** Call it after every commit. Returns at once. */
  committed(): void {
    this.#commits += 1;
    if (this.#commits < COMMITS_BETWEEN) return;
    this.#commits = 0;
    // After the answer of the call that made the commit.
    setImmediate(() => {
      // A disk that fails here fails the next commit too, which reports it.
      this.#run().catch(() => undefined);
    });
  }

  async #run(): Promise<void> {
    const { pages } = await this.#checkpoint('PASSIVE');
    if (pages > LONG_WAL_PAGES) await this.#checkpoint('RESTART');
  }
}
