import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { FifoLock } from '../../fifo-lock.ts';
import { type Database, DatabaseError, type Durability, type Reader } from '../database.ts';
import { isProcessId } from '../process-id.ts';
import { openSqlite, type SqliteOptions } from './database.ts';
import { loadSqlite } from './driver.ts';
import { explainFault, faultOfSystemError } from './errors.ts';
import { copyFiles, nameOriginal } from './files/copy-files.ts';
import { readFileState } from './files/file-state.ts';
import { assertNoJournal } from './files/journal.ts';
import { mayWriteLedger } from './files/may-write.ts';
import { isLocked, presencePath } from './files/presence.ts';
import { machineClock } from './machine-clock.ts';

/**
 * Opens a ledger for reading, even without write permission on its file or folder: a read-only disk, a mount, a
 * folder of another user. SQLite needs a side file even to read; where it can neither find nor create one, a private copy
 * is read.
 */
export async function openForReading(options: SqliteOptions): Promise<Database> {
  const path = realPathOf(options.path);
  if (mayWriteLedger(path)) return openSqlite(options);
  if (existsSync(`${path}-shm`))
    try {
      return await openSqlite(options);
    } catch (error) {
      // The side file may be unreadable, or left behind by a process that died.
      if (!(error instanceof DatabaseError) || !['unavailable', 'readonly'].includes(error.fault)) throw error;
    }
  return openReadOnlyCopy(options);
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

const MAX_COPIES = 3;

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
    this.#state = this.#copyTo(copy);
    this.#database = await openSqlite({ ...this.#options, path: copy });
    return this.#database;
  }

  #copyTo(copy: string): string {
    rmSync(`${copy}-shm`, { force: true });
    for (const suffix of ['', '-wal']) if (existsSync(copy + suffix)) chmodSync(copy + suffix, 0o600);
    for (let attempt = 0; attempt < MAX_COPIES; attempt += 1) {
      const state = this.#tryCopy(copy);
      if (state === undefined) continue;
      // A copy has the mode of a file that may only be read, and SQLite gives its side files the same mode.
      for (const suffix of ['', '-wal']) if (existsSync(copy + suffix)) chmodSync(copy + suffix, 0o600);
      return state;
    }
    throw new DatabaseError('busy', `${this.location}: changes while it is copied to a folder where it can be read`, {
      advice: 'run the command again, or ask the owner of the ledger for a backup',
    });
  }

  #tryCopy(copy: string): string | undefined {
    try {
      return copyFiles(this.#realPath, copy);
    } catch (error) {
      throw explainFault(`copying ${this.location} to ${this.#folder}`, faultOfSystemError(error), error);
    }
  }
}

/** SQLite follows links before it names the files beside the database. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw explainFault(path, faultOfSystemError(error), error);
  }
}
