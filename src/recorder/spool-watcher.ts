import { type FSWatcher, watch } from 'node:fs';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import { ingest } from './ingest.ts';
import { hasSpool, removeAbandoned } from './spool.ts';

/** Events come in bursts: one transaction for those of this time costs less than one for each. */
const DELAY_MS = 100;

/** Ingests what waits in the spool now, and what hooks add while the server runs. Never fails the server. */
export class SpoolWatcher {
  readonly #database: Database;
  readonly #folder: string;
  readonly #log: Log;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(database: Database, folder: string, log: Log) {
    this.#database = database;
    this.#folder = folder;
    this.#log = log;
  }

  start(): void {
    try {
      if (!hasSpool(this.#folder)) return;
      removeAbandoned(this.#folder, new Date());
      this.#watcher = watch(this.#folder, { persistent: false }, () => this.#schedule());
      this.#watcher.on('error', (error) => this.#log('warn', 'the recorder stopped', { error }));
      this.#schedule();
    } catch (error) {
      this.#log('warn', 'the recorder is off', { error });
    }
  }

  /** Waits for a transaction that has begun. */
  async stop(): Promise<void> {
    this.#watcher?.close();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#running;
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#running.then(() => this.#ingest());
    }, DELAY_MS);
    this.#timer.unref();
  }

  async #ingest(): Promise<void> {
    try {
      const { recorded, rejected } = await ingest(this.#database, this.#folder);
      if (rejected > 0) this.#log('warn', 'rejected files in the spool', { folder: this.#folder, files: rejected });
      if (recorded > 0) this.#log('debug', 'recorded events of clients', { events: recorded });
    } catch (error) {
      this.#log('warn', 'events of clients are not recorded yet', { error });
    }
  }
}
