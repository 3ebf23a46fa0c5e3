import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { FifoLock } from '../../fifo-lock.ts';
import type { Database, Durability, Reader } from '../database.ts';
import { isProcessId } from '../process-id.ts';
import { openSqlite, type SqliteOptions } from './database.ts';
import { loadSqlite } from './driver.ts';
import { explainFault } from './errors.ts';
import { copyForReading, nameOriginal } from './files/copy-files.ts';
import { readFileState } from './files/file-state.ts';
import { inPlaceOr, realPathOf } from './files/in-place.ts';
import { assertNoJournal } from './files/journal.ts';
import { isLocked, presencePath } from './files/presence.ts';
import { machineClock } from './machine-clock.ts';

/**
 * Opens a ledger for reading, even without write permission on its file or folder: a read-only disk, a mount, a
 * folder of another user. Where SQLite cannot read it in place, a private copy is read.
 */
export function openForReading(options: SqliteOptions): Promise<Database> {
  return inPlaceOr(
    realPathOf(options.path),
    () => openSqlite(options),
    () => openReadOnlyCopy(options),
  );
}

/** Reads a private copy, which is made again whenever the ledger has changed. Its folder is removed by `close`. */
export async function openReadOnlyCopy(options: SqliteOptions): Promise<Database> {
  const copy = new ReadOnlyCopy(options);
  try {
    await copy.prepare();
    return copy;
  } catch (error) {
    await copy.close();
    throw error;
  }
}

class ReadOnlyCopy implements Database {
  readonly engine = 'sqlite';
  readonly clock = machineClock;
  readonly location: string;
  readonly #options: SqliteOptions;
  readonly #realPath: string;
  readonly #folder: string;
  readonly #lock = new FifoLock();
  #state: string | undefined;
  #database: Database | undefined;

  constructor(options: SqliteOptions) {
    this.location = options.path;
    this.#options = options;
    this.#realPath = realPathOf(options.path);
    this.#folder = mkdtempSync(join(tmpdir(), 'colibri-read-'));
  }

  /** Makes the first copy, so that a ledger which cannot be read is refused here. */
  prepare(): Promise<void> {
    return this.#withCopy(() => Promise.resolve());
  }

  read<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    return this.#withCopy((database) => database.read(work));
  }

  schemaVersion(): Promise<number> {
    return this.#withCopy((database) => database.schemaVersion());
  }

  /** The processes lock files beside the original. */
  async isAlive(processId: string): Promise<boolean> {
    return isProcessId(processId) && isLocked(await loadSqlite(), presencePath(this.#realPath, processId));
  }

  write(): Promise<never> {
    return this.#refuse();
  }

  enterCall(): Promise<never> {
    return this.#refuse();
  }

  enlist(): Promise<never> {
    return this.#refuse();
  }

  connectionCount(): number {
    return 0;
  }

  async durability(): Promise<Durability> {
    return { level: this.#options.durability };
  }

  async close(): Promise<void> {
    await this.#lock.run(async () => {
      await this.#database?.close();
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  async #refuse(): Promise<never> {
    throw explainFault(this.location, 'readonly', undefined);
  }

  #withCopy<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    return this.#lock.run(async () => {
      try {
        return await work(await this.#openCurrent());
      } catch (error) {
        throw nameOriginal(error, this.#folder, dirname(this.location));
      }
    });
  }

  async #openCurrent(): Promise<Database> {
    if (this.#database !== undefined && readFileState(this.#realPath) === this.#state) return this.#database;
    await this.#database?.close();
    this.#database = undefined;
    // The copy has no journal beside it, so the check must use the original.
    assertNoJournal(this.#realPath);
    const copy = join(this.#folder, basename(this.location));
    this.#state = copyForReading(this.#realPath, copy, this.location);
    this.#database = await openSqlite({ ...this.#options, path: copy });
    return this.#database;
  }
}
