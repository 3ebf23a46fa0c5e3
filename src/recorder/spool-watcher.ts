import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import { type IngestOptions, ingest, MAX_BATCH, readmitRejected } from './ingest.ts';
import { countWaiting, hasSpool, removeAbandoned } from './spool.ts';
import { fillReserve } from './spool-reserve.ts';

/** Events come in bursts: one transaction for those of this time costs less than one for each. */
const DELAY_MS = 100;
/** How often to look for a spool that is not there yet, and to repeat what failed. */
const RETRY_MS = 2000;

/** A call that depends on every event waits this long; a full spool takes a few seconds. */
const WHOLE_LIMIT_MS = 20_000;

/** Ingests what waits in the spool now, and what hooks add while the server runs. Never fails the server. */
export class SpoolWatcher {
  readonly #database: Database;
  readonly #folder: string;
  readonly #log: Log;
  readonly #isHalted: () => boolean;
  /** Whether the folder is there and can be used. */
  #isOpen = false;
  /** Whether the folder is there and cannot be used. */
  #isRefused = false;
  #watcher: FSWatcher | undefined;
  #delay: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isPending = false;
  /** What was logged last: a fault that lasts is logged once. */
  #logged: string | undefined;

  /** While `isHalted`, nothing is added to the ledger. */
  constructor(database: Database, folder: string, log: Log, isHalted: () => boolean = () => false) {
    this.#database = database;
    this.#folder = folder;
    this.#log = log;
    this.#isHalted = isHalted;
  }

  start(): void {
    this.#look();
    this.#retry = setInterval(() => this.#look(), RETRY_MS).unref();
  }

  /**
   * Resolves when the events that were reported so far are in the ledger, so that a call finds what happened before it.
   * False if some are not: unless `isWhole`, an agent does not wait for thousands of events.
   */
  async settle(isWhole = false): Promise<boolean> {
    if (!this.#isOpen || isWhole) this.#look();
    if (!this.#isOpen) return !this.#isRefused;
    try {
      const waiting = countWaiting(this.#folder);
      if (waiting === 0) return true;
      if (waiting > MAX_BATCH && !isWhole) return false;
      return await this.#ingest({ isHurried: true, timeLimitMs: WHOLE_LIMIT_MS });
    } catch {
      // The folder was removed; the next look notices.
      return false;
    }
  }

  /**
   * Ingests what came last. Clients stop their server together with the session: no other server may report on it soon.
   */
  async stop(): Promise<void> {
    clearInterval(this.#retry);
    // The events first, in case the client does not wait for the reports.
    await this.settle();
    clearTimeout(this.#delay);
    await this.#running;
    if (this.#isOpen) await this.#ingest();
    this.#close();
  }

  /** A hook creates the folder when it is first used, and `init --undo` removes it. */
  #look(): void {
    try {
      this.#isRefused = false;
      if (!hasSpool(this.#folder)) return this.#close();
      const isNew = !this.#isOpen;
      if (isNew) {
        removeAbandoned(this.#folder, new Date());
        readmitRejected(this.#folder);
        fillReserve(this.#folder);
      }
      this.#isOpen = true;
      if (this.#watcher === undefined) this.#watch();
      // Without a watcher, because the system has too many, looking is all there is.
      if (isNew || this.#isPending || this.#watcher === undefined) this.#schedule();
    } catch (error) {
      this.#close();
      this.#isRefused = true;
      this.#logOnce('the recorder is off', error);
    }
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_event, name) => {
        // An event of the folder itself: if it was removed and created again, the watcher does not see the new one.
        if (name === basename(this.#folder)) this.#close();
        this.#schedule();
      });
      this.#watcher.on('error', () => this.#close());
    } catch (error) {
      this.#logOnce('the spool is read every two seconds', error);
    }
  }

  #close(): void {
    this.#isOpen = false;
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #schedule(): void {
    if (this.#delay !== undefined) return;
    this.#delay = setTimeout(() => {
      this.#delay = undefined;
      this.#running = this.#running.then(async () => {
        await this.#ingest();
      });
    }, DELAY_MS).unref();
  }

  /** Whether everything that waited is in the ledger now. */
  async #ingest(options: IngestOptions = {}): Promise<boolean> {
    this.#isPending = this.#isHalted();
    if (this.#isPending) return false;
    try {
      const { recorded, rejected, isLate = false } = await ingest(this.#database, this.#folder, options);
      this.#isPending = false;
      this.#logged = undefined;
      if (rejected > 0) this.#log('warn', 'rejected files in the spool', { folder: this.#folder, files: rejected });
      if (recorded > 0) {
        this.#log('debug', 'recorded events of clients', { events: recorded });
        fillReserve(this.#folder);
      }
      return !isLate;
    } catch (error) {
      this.#isPending = true;
      this.#logOnce('events of clients are not recorded yet', error);
      return false;
    }
  }

  #logOnce(message: string, error: unknown): void {
    const text = `${message}: ${String(error)}`;
    if (text !== this.#logged) this.#log('warn', message, { error });
    this.#logged = text;
  }
}
