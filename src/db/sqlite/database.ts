import { realpathSync } from 'node:fs';
import { FifoLock } from '../../fifo-lock.ts';
import {
  type Database,
  DatabaseError,
  type Durability,
  type EnteredCall,
  type Reader,
  type SqlValue,
  type Transaction,
  type WriteOptions,
} from '../database.ts';
import { assertKnown, assertUsable } from '../migrate.ts';
import { assertProcessId, isProcessId } from '../process-id.ts';
import { loadSqlite, type SqliteDriver, type SqliteLibrary } from './driver.ts';
import { explainFault } from './errors.ts';
import { createForOwnerOnly, inodeOf } from './file.ts';
import { LockWait, retryWhileBusy } from './lock-wait.ts';
import { APPLICATION_ID, HEADER, PRAGMAS } from './pragmas.ts';
import { beginPresence, isPresent, listPresenceFiles, type Presence, presencePath, removeDead } from './presence.ts';
import { type Prepared, prepare } from './statement.ts';
import { createSqliteScope, type SqliteScope } from './transaction.ts';
import { WalFile } from './wal-file.ts';

export interface SqliteOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /** `relaxed` never waits for the disk: what is acknowledged survives this process, not the machine. */
  readonly durability: 'full' | 'relaxed';
  /** How long to wait for other writers before giving up. */
  readonly busyTimeoutMs: number;
  /** Runs before anything is written, and before anything but the schema is read; throws to refuse the file. */
  readonly inspect?: (database: Database) => Promise<void>;
  /** For verification, which reports a changed header: the file is opened whatever it says. */
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
  readonly location: string;
  readonly #options: SqliteOptions;
  readonly #sqlite: SqliteLibrary;
  readonly #driver: SqliteDriver;
  readonly #statements = new Map<string, Prepared>();
  /** One connection holds one transaction: whoever comes second waits for the first to end. */
  readonly #turn = new FifoLock();
  readonly #inode: number | undefined;
  readonly #realPath: string;
  readonly #lockWait = new LockWait({ countProcesses: () => listPresenceFiles(this.#realPath).length });
  readonly #wal: WalFile;
  #presence: Presence | undefined;
  #isClosed = false;

  constructor(options: SqliteOptions, sqlite: SqliteLibrary) {
    this.location = options.path;
    this.#options = options;
    this.#sqlite = sqlite;
    this.#driver = this.#guard(() => sqlite.open(options.path, { readOnly: options.readOnly }));
    this.#inode = inodeOf(options.path);
    // SQLite, too, resolves links before it names the files beside the database.
    this.#realPath = this.#guard(() => realpathSync(options.path));
    this.#wal = new WalFile(`${this.#realPath}-wal`, () => this.#checkpoint());
  }

  /** Looks before it touches: a file of another program is refused as it is. */
  async prepareConnection(): Promise<void> {
    await this.#retryWhileBusy(() => this.#driver.exec(PRAGMAS));
    await this.#options.inspect?.(this);
    if (this.#options.acceptsAnyHeader !== true) await this.schemaVersion();
    if (this.#options.readOnly) return;
    const [mode] = await this.#retryWhileBusy(() => this.#all('PRAGMA journal_mode = WAL', []));
    if (mode?.['journal_mode'] !== 'wal') {
      throw new DatabaseError(
        'refused',
        `${this.location}: this file system does not support SQLite's write-ahead log; put the ledger on a local disk`,
      );
    }
    // SQLite opens the log with its first read.
    await this.#retryWhileBusy(() => this.#all('SELECT 1 FROM sqlite_schema LIMIT 1', []));
    this.#guard(() => this.#wal.open());
  }

  read<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    return this.#turn.run(async () => {
      this.#assertInPlace();
      await this.#retryWhileBusy(() => this.#beginSnapshot());
      return this.#finish(this.#createScope(), work);
    });
  }

  write<Result>({ durable }: WriteOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#turn.run(async () => {
      this.#assertInPlace();
      await this.#retryWhileBusy(() => this.#all('BEGIN IMMEDIATE', []));
      const begunMs = performance.now();
      const result = await this.#finish(this.#createScope(), async (scope) => {
        this.#assertWritable();
        const done = await work(scope);
        scope.complete();
        return done;
      });
      this.#lockWait.observeHold(performance.now() - begunMs);
      if (durable && this.#options.durability === 'full') await this.#wal.flush();
      return result;
    });
  }

  /** A statement costs no round trip here. */
  enterCall(_call: EnteredCall, work: (transaction: Transaction) => Promise<number>): Promise<number> {
    return this.write({ durable: false }, work);
  }

  /** The file stays open, and only a crash of the machine, which ends this process too, loses commits. */
  connectionCount(): number {
    return 1;
  }

  #createScope(): SqliteScope {
    return createSqliteScope({
      query: (sql, parameters) => this.#query(sql, parameters),
      run: (script) => this.#guard(() => this.#driver.exec(script)),
      schemaVersion: () => this.schemaVersion(),
      mark: (version) => `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`,
    });
  }

  /** Another process may have migrated the ledger, or begun a copy into it, since it was opened. */
  #assertWritable(): void {
    const [header] = this.#all('PRAGMA user_version', []);
    const version = Number(header?.['user_version']);
    if (this.#options.acceptsUnfinished === true) assertKnown(this.location, version);
    else assertUsable(this.location, version);
  }

  async schemaVersion(): Promise<number> {
    return this.#retryWhileBusy(() => {
      const [header] = this.#all(HEADER, []);
      if (header?.['application_id'] === APPLICATION_ID) return Number(header['user_version']);
      if (header?.['application_id'] === 0 && header['user_version'] === 0 && header['is_empty'] === 1) return 0;
      throw new DatabaseError(
        'corrupt',
        `${this.location} is a database of another program; set COLIBRI_DB_PATH to another file`,
      );
    });
  }

  async enlist(processId: string): Promise<void> {
    assertProcessId(processId);
    // Under the ledger's lock: between its creation and its own lock a file looks like that of a dead process.
    await this.write({ durable: false }, async () => {
      this.#guard(() => removeDead(this.#sqlite, this.#realPath));
      const path = presencePath(this.#realPath, processId);
      createForOwnerOnly(path);
      this.#presence = this.#guard(() => beginPresence(this.#sqlite, path));
    });
  }

  async isAlive(processId: string): Promise<boolean> {
    if (!isProcessId(processId)) return false;
    return this.#guard(() => isPresent(this.#sqlite, presencePath(this.#realPath, processId)));
  }

  async durability(): Promise<Durability> {
    return { level: this.#options.durability };
  }

  async close(): Promise<void> {
    await this.#turn.run(async () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#statements.clear();
      this.#driver.close();
      this.#wal.close();
      this.#presence?.end();
    });
  }

  /** True when every commit so far is in the database file, which SQLite has flushed. */
  #checkpoint(): boolean {
    const [row] = this.#all('PRAGMA wal_checkpoint(TRUNCATE)', []);
    return row?.['busy'] === 0;
  }

  /** A deleted file goes on taking what is written to it, until its last user closes it. */
  #assertInPlace(): void {
    if (inodeOf(this.#options.path) === this.#inode && this.#wal.isInPlace()) return;
    throw new DatabaseError(
      'unavailable',
      `${this.location}: the file was deleted or replaced while the server used it; restart the server`,
    );
  }

  async #finish<Result>(scope: SqliteScope, work: (scope: SqliteScope) => Promise<Result>): Promise<Result> {
    try {
      const result = await work(scope);
      this.#guard(() => this.#all('COMMIT', []));
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    } finally {
      scope.end();
    }
  }

  /** Some failures make SQLite roll back by itself; then there is nothing left to do. */
  #rollback(): void {
    try {
      this.#all('ROLLBACK', []);
    } catch (error) {
      if (this.#sqlite.faultOf(error) !== 'other') throw this.#explain(error);
    }
  }

  #query<Shape>(sql: string, parameters: readonly SqlValue[]): Shape[] {
    try {
      return this.#all(sql, parameters) as Shape[];
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #beginSnapshot(): void {
    this.#all('BEGIN', []);
    try {
      // A deferred transaction takes its snapshot at the first read; taken here, a busy file is met before any work.
      this.#all('SELECT 1 FROM sqlite_schema LIMIT 1', []);
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  #all(sql: string, parameters: readonly SqlValue[]): Record<string, SqlValue>[] {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      prepared = prepare(this.#driver, sql);
      this.#statements.set(sql, prepared);
    }
    return prepared.statement.all(prepared.arrange(parameters)) as Record<string, SqlValue>[];
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

  #explain(error: unknown): unknown {
    return explainFault(this.location, this.#sqlite.faultOf(error), error);
  }
}
