import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ReadableLedger } from '../support/with-ledger.ts';

/** Tells a command when to read the ledger again, so that it need not poll the database hard. */
export interface LedgerChanges {
  /**
   * Resolves when the ledger may have changed since the last call, after the poll interval, or when the signal aborts.
   * Nothing is missed: a change before the call resolves it at once.
   */
  next(): Promise<void>;
  close(): void;
}

/** One read per interval is enough for a person or a script, however busy the agents are. */
const MIN_INTERVAL_MS = 100;
/** A file system may deliver no events (network shares), and time alone can lapse a claim. */
const SQLITE_POLL_MS = 2000;
const POSTGRES_POLL_MS = 500;
const TIMER_MS = 2000;

export interface ChangesOptions {
  /** The caller waits for time to pass: changes of the ledger do not matter. */
  readonly isTimer?: boolean;
}

export function openLedgerChanges(
  { engine, location }: Pick<ReadableLedger, 'engine' | 'location'>,
  signal: AbortSignal,
  { isTimer = false }: ChangesOptions = {},
): LedgerChanges {
  if (isTimer) return new Changes(TIMER_MS, signal);
  const changes = new Changes(engine === 'sqlite' ? SQLITE_POLL_MS : POSTGRES_POLL_MS, signal);
  if (engine === 'sqlite') changes.watch(location);
  return changes;
}

/** Ctrl-C and SIGTERM end a command that runs until then; the exit code stays its own. */
export function abortOnSignals(interrupted = new AbortController()): AbortSignal {
  const stop = () => interrupted.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return interrupted.signal;
}

class Changes implements LedgerChanges {
  readonly #pollMs: number;
  readonly #signal: AbortSignal;
  #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(pollMs: number, signal: AbortSignal) {
    this.#pollMs = pollMs;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake?.());
  }

  /** Watches the folder: a checkpoint at the end of a server deletes the WAL, and the next one creates another file. */
  watch(path: string): void {
    try {
      const real = realpathSync(path);
      const names = new Set([basename(real), `${basename(real)}-wal`]);
      this.#watcher = watch(dirname(real), (_event, name) => {
        // Without a name, any file may have changed.
        if (name === null || names.has(name)) this.#report();
      });
      // Out of watches, or the folder is gone: the poll remains.
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#watcher = undefined;
    }
  }

  async next(): Promise<void> {
    await this.#pause(MIN_INTERVAL_MS, () => this.#signal.aborted);
    await this.#pause(this.#pollMs - MIN_INTERVAL_MS, () => this.#signal.aborted || this.#hasChanged);
    this.#hasChanged = false;
  }

  close(): void {
    this.#watcher?.close();
  }

  #report(): void {
    this.#hasChanged = true;
    this.#wake?.();
  }

  /** Ends early once the condition holds. */
  #pause(ms: number, isOver: () => boolean): Promise<void> {
    if (isOver()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#wake = () => {
        if (isOver()) end();
      };
    });
  }
}
