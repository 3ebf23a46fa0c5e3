import { realpathSync } from 'node:fs';
import { FifoLock } from '../../fifo-lock.ts';
import {
  type Database,
  DatabaseError,
  type Durability,
  type EnteredCall,
  LedgerReplaced,
  type Reader,
  type ReadOptions,
  type Transaction,
  type WriteOptions,
} from '../database.ts';
import { assertKnown, assertUsable } from '../migrate.ts';
import { assertProcessId, isProcessId } from '../process-id.ts';
import { loadSqlite, type SqliteDriver, type SqliteLibrary } from './driver.ts';
import { explainFault, faultOfSystemError } from './errors.ts';
import { createForOwnerOnly, inodeOf } from './files/file.ts';
import { LiveCount } from './files/live-count.ts';
import { createPresence, isLocked, isPresent, type Presence, presencePath, removeDead } from './files/presence.ts';
import { WalFile } from './files/wal-file.ts';
import { LockWait, retryWhileBusy } from './lock-wait.ts';
import { machineClock } from './machine-clock.ts';
import { APPLICATION_ID, HEADER, PRAGMAS } from './pragmas.ts';
import { Statements } from './statements.ts';
import { createTransaction, type SqliteTransaction } from './transaction.ts';
import { WalCheckpoints } from './wal-checkpoints.ts';

export interface SqliteOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /**
   * `relaxed` never waits for the disk: an acknowledged change survives a crash of this process, not of the machine.
   */
  readonly durability: 'full' | 'relaxed';
  /** How long to wait for other writers before giving up. */
  readonly busyTimeoutMs: number;
  /** Runs before anything is written, and before anything but the schema is read. Throws to refuse the file. */
  readonly inspect?: (database: Database) => Promise<void>;
  /** For verification, which reports a changed header instead of refusing the file. */
  readonly acceptsAnyHeader?: boolean;
  /** For `copy`, the only writer of an unfinished copy. */
  readonly acceptsUnfinished?: boolean;
}

export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const sqlite = await loadSqlite();
  if (!options.readOnly) createForOwnerOnly(options.path);
  const database = new SqliteDatabase(options, sqlite);
  try {
    await database.prepareConnection();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

class SqliteDatabase implements Database {
  readonly engine = 'sqlite';
  readonly clock = machineClock;
  readonly location: string;
  readonly #options: SqliteOptions;
  readonly #sqlite: SqliteLibrary;
  readonly #driver: SqliteDriver;
  readonly #statements: Statements;
  /** The one connection can hold only one transaction at a time. */
  readonly #connectionLock = new FifoLock();
  readonly #inode: number | undefined;
  readonly #realPath: string;
  readonly #liveCount: LiveCount;
  readonly #lockWait = new LockWait({ countProcesses: () => this.#liveCount.read() });
  readonly #wal: WalFile;
  readonly #walCheckpoints = new WalCheckpoints((mode) => this.#runCheckpoint(mode));
  #presence: Presence | undefined;
  #isClosed = false;

  constructor(options: SqliteOptions, sqlite: SqliteLibrary) {
    this.location = options.path;
    this.#options = options;
    this.#sqlite = sqlite;
    this.#driver = this.#guard(() => sqlite.open(options.path, { readOnly: options.readOnly }));
    this.#statements = new Statements(this.#driver);
    this.#inode = inodeOf(options.path);
    // SQLite also resolves links before it names the files beside the database.
    this.#realPath = this.#guardFile(() => realpathSync(options.path));
    this.#liveCount = new LiveCount(sqlite, this.#realPath);
    this.#wal = new WalFile(`${this.#realPath}-wal`, () => this.#checkpoint());
  }

  /** Reads before it writes: a file of another program is refused unchanged. */
  async prepareConnection(): Promise<void> {
    await this.#retryWhileBusy(() => this.#driver.exec(PRAGMAS));
    await this.#options.inspect?.(this);
    if (this.#options.acceptsAnyHeader !== true) await this.schemaVersion();
    if (this.#options.readOnly) return;
    const [mode] = await this.#retryWhileBusy(() => this.#statements.all('PRAGMA journal_mode = WAL', []));
    if (mode?.['journal_mode'] !== 'wal') {
      throw new DatabaseError(
        'refused',
        `${this.location}: this file system does not support SQLite's write-ahead log`,
        { advice: 'put the ledger on a local disk' },
      );
    }
    // SQLite opens the write-ahead log with its first read.
    await this.#retryWhileBusy(() => this.#statements.all('SELECT 1 FROM sqlite_schema LIMIT 1', []));
    this.#guardFile(() => this.#wal.open());
  }

  read<Result>(work: (reader: Reader) => Promise<Result>, { followsEnter = false }: ReadOptions = {}): Promise<Result> {
    return this.#connectionLock.run(async () => {
      if (!followsEnter) this.#assertFileUnchanged();
      await this.#retryWhileBusy(() => this.#beginSnapshot());
      return this.#finish(this.#createTransaction(), work);
    });
  }

  write<Result>(
    { durable, followsEnter = false }: WriteOptions,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return this.#connectionLock.run(async () => {
      if (!followsEnter) this.#assertFileUnchanged();
      await this.#retryWhileBusy(() => this.#statements.all('BEGIN IMMEDIATE', []));
      const begunMs = performance.now();
      const result = await this.#finish(this.#createTransaction(), async (transaction) => {
        this.#assertWritable();
        // A person or `git clean` may have removed the file; without it, others would take this process for dead.
        if (this.#presence?.isRemoved(begunMs))
          await this.#retryWhileBusy(() => this.#presence?.begin()).catch(() => undefined);
        const done = await work(transaction);
        transaction.runQueued();
        return done;
      });
      this.#lockWait.observeHold(performance.now() - begunMs);
      this.#walCheckpoints.committed();
      if (durable === 'always' || (durable && this.#options.durability === 'full')) await this.#wal.flush();
      return result;
    });
  }

  /** A statement costs no round trip here. */
  enterCall(_call: EnteredCall, work: (transaction: Transaction) => Promise<number>): Promise<number> {
    return this.write({ durable: false }, work);
  }

  /** Only a crash of the machine loses commits, and it ends this process too. */
  connectionCount(): number {
    return 0;
  }

  async schemaVersion(): Promise<number> {
    return this.#retryWhileBusy(() => {
      const [header] = this.#statements.all(HEADER, []);
      if (header?.['application_id'] === APPLICATION_ID) return Number(header['user_version']);
      if (header?.['application_id'] === 0 && header['user_version'] === 0 && header['is_empty'] === 1) return 0;
      throw new DatabaseError('corrupt', `${this.location} is a database of another program`, {
        advice: 'set COLIBRI_DB_PATH to another file',
      });
    });
  }

  async enlist(processId: string): Promise<void> {
    assertProcessId(processId);
    // Under the write lock: until a new presence file is locked, it looks like that of a dead process.
    await this.write({ durable: false }, async () => {
      this.#guard(() => removeDead(this.#sqlite, this.#realPath));
      const presence = createPresence(this.#sqlite, presencePath(this.#realPath, processId));
      await this.#retryWhileBusy(() => presence.begin());
      this.#presence = presence;
    });
  }

  async isAlive(processId: string): Promise<boolean> {
    if (!isProcessId(processId)) return false;
    const path = presencePath(this.#realPath, processId);
    return this.#guard(() => (this.#options.readOnly ? isLocked(this.#sqlite, path) : isPresent(this.#sqlite, path)));
  }

  async durability(): Promise<Durability> {
    return { level: this.#options.durability };
  }

  async close(): Promise<void> {
    await this.#connectionLock.run(async () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#statements.clear();
      this.#driver.close();
      this.#wal.close();
      this.#presence?.end();
    });
  }

  #createTransaction(): SqliteTransaction {
    return createTransaction({
      statements: this.#statements,
      run: (script) => this.#guard(() => this.#driver.exec(script)),
      schemaVersion: () => this.schemaVersion(),
      mark: (version) => `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`,
      guard: (action) => this.#guard(action),
    });
  }

  async #finish<Result>(
    transaction: SqliteTransaction,
    work: (transaction: SqliteTransaction) => Promise<Result>,
  ): Promise<Result> {
    try {
      const result = await work(transaction);
      this.#guard(() => this.#statements.all('COMMIT', []));
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      transaction.end();
    }
  }

  /** Some failures make SQLite roll back by itself. ROLLBACK then fails, which is not an error. */
  #rollback(): void {
    try {
      this.#statements.all('ROLLBACK', []);
    } catch (error) {
      if (this.#sqlite.faultOf(error) !== 'other') throw this.#explain(error);
    }
  }

  #beginSnapshot(): void {
    this.#statements.all('BEGIN', []);
    try {
      // A deferred transaction takes its snapshot with the first read. Read here, so that a busy file fails before any
      // work.
      this.#statements.all('SELECT 1 FROM sqlite_schema LIMIT 1', []);
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  /** A deleted file still accepts writes until its last user closes it. */
  #assertFileUnchanged(): void {
    if (inodeOf(this.#options.path) === this.#inode && this.#wal.isInPlace()) return;
    throw new LedgerReplaced(this.location);
  }

  /** Another process may have migrated the ledger, or begun a copy into it, since it was opened. */
  #assertWritable(): void {
    const [header] = this.#statements.all('PRAGMA user_version', []);
    const version = Number(header?.['user_version']);
    if (this.#options.acceptsUnfinished === true) assertKnown(this.location, version);
    else assertUsable(this.location, version);
  }

  async #runCheckpoint(mode: 'PASSIVE' | 'RESTART'): Promise<{ pages: number }> {
    if (this.#options.durability === 'relaxed') await this.#wal.writeAhead();
    return this.#connectionLock.run(async () => {
      const [row] = this.#isClosed ? [] : this.#statements.all(`PRAGMA wal_checkpoint(${mode})`, []);
      return { pages: Number(row?.['log'] ?? 0) };
    });
  }

  /** True if every commit so far is in the database file, which SQLite has flushed. */
  #checkpoint(): boolean {
    const [row] = this.#statements.all('PRAGMA wal_checkpoint(TRUNCATE)', []);
    return row?.['busy'] === 0;
  }

  async #retryWhileBusy<Result>(attempt: () => Result): Promise<Result> {
    const isBusy = (error: unknown) => this.#sqlite.faultOf(error) === 'busy';
    try {
      return await retryWhileBusy(attempt, isBusy, this.#lockWait, this.#options.busyTimeoutMs);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #guard<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** For an error of the system, which the library does not see. */
  #guardFile<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      throw explainFault(this.location, faultOfSystemError(error), error);
    }
  }

  #explain(error: unknown): unknown {
    return explainFault(this.location, this.#sqlite.faultOf(error), error);
  }
}
