import { closeSync, existsSync, openSync } from 'node:fs';
import { FifoLock } from '../fifo-lock.ts';
import {
  type Database,
  DatabaseError,
  type Reader,
  type SqlValue,
  type Transaction,
  type WriteOptions,
} from './database.ts';
import { loadSqlite, type SqliteDriver, type SqliteLibrary, type SqliteStatement } from './sqlite-driver.ts';
import { explainFault, faultOfSystemError } from './sqlite-faults.ts';
import { beginPresence, isPresent, type Presence } from './sqlite-presence.ts';

export interface SqliteOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /** `relaxed` never waits for the disk: what is acknowledged survives this process, not the machine. */
  readonly durability: 'full' | 'relaxed';
  /** How long to wait for other writers before giving up. */
  readonly busyTimeoutMs: number;
}

/** "Coli" in ASCII, in the file's header: tells a ledger from any other SQLite file. */
const APPLICATION_ID = 0x436f6c69;

/** One statement sees one state: between several, another process could create the ledger. */
const HEADER = `SELECT application_id, user_version, NOT EXISTS (SELECT 1 FROM sqlite_schema) AS is_empty
  FROM pragma_application_id, pragma_user_version`;

/** From here on a waiting writer asks again at every turn of the event loop, so that newcomers cannot starve it. */
const EAGER_AFTER_MS = 10;

/** The two SQLite libraries default differently, so nothing is left to a default. */
const PRAGMAS = `
  PRAGMA busy_timeout = 0;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  PRAGMA recursive_triggers = OFF;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA locking_mode = NORMAL;
  PRAGMA temp_store = MEMORY;
  PRAGMA mmap_size = 0;
  PRAGMA cache_size = -16000;
  PRAGMA wal_autocheckpoint = 1000;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
`;

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
  #syncsCommits = false;
  #presence: Presence | undefined;
  #isClosed = false;

  constructor(options: SqliteOptions, sqlite: SqliteLibrary) {
    this.location = options.path;
    this.#options = options;
    this.#sqlite = sqlite;
    this.#driver = this.#guard(() => sqlite.open(options.path, { readOnly: options.readOnly }));
  }

  /** Looks before it touches: a file of another program is refused as it is. */
  async prepareConnection(): Promise<void> {
    await this.#patiently(() => this.#driver.exec(PRAGMAS));
    await this.schemaVersion();
    if (this.#options.readOnly) return;
    const [mode] = await this.#patiently(() => this.#all('PRAGMA journal_mode = WAL', []));
    if (mode?.['journal_mode'] !== 'wal') {
      throw new DatabaseError(
        'unavailable',
        `${this.location}: this file system does not support SQLite's write-ahead log; put the ledger on a local disk`,
      );
    }
  }

  read<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    return this.#turn.run(async () => {
      await this.#patiently(() => this.#beginSnapshot());
      return this.#finish(work, this.#reader());
    });
  }

  write<Result>({ durable }: WriteOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#turn.run(async () => {
      this.#syncCommits(durable && this.#options.durability === 'full');
      await this.#patiently(() => this.#all('BEGIN IMMEDIATE', []));
      return this.#finish(work, this.#transaction());
    });
  }

  async schemaVersion(): Promise<number> {
    return this.#patiently(() => {
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
    const path = this.#presencePath(processId);
    createForOwnerOnly(path);
    this.#presence = this.#guard(() => beginPresence(this.#sqlite, path));
  }

  async isAlive(processId: string): Promise<boolean> {
    return this.#guard(() => isPresent(this.#sqlite, this.#presencePath(processId)));
  }

  async close(): Promise<void> {
    await this.#turn.run(async () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      this.#statements.clear();
      this.#driver.close();
      this.#presence?.end();
    });
  }

  #presencePath(processId: string): string {
    return `${this.#options.path}-${processId}.live`;
  }

  async #finish<Result, Scope>(work: (scope: Scope) => Promise<Result>, scope: Scope): Promise<Result> {
    try {
      const result = await work(scope);
      this.#guard(() => this.#all('COMMIT', []));
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
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

  #reader(): Reader {
    return {
      query: async <Shape>(sql: string, parameters: readonly SqlValue[] = []) => this.#query<Shape>(sql, parameters),
    };
  }

  #transaction(): Transaction {
    return {
      ...this.#reader(),
      schemaVersion: () => this.schemaVersion(),
      run: async (script) => this.#guard(() => this.#driver.exec(script)),
      setSchemaVersion: async (version) =>
        this.#guard(() =>
          this.#driver.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`),
        ),
    };
  }

  #query<Shape>(sql: string, parameters: readonly SqlValue[]): Shape[] {
    return this.#guard(() => this.#all(sql, parameters) as Shape[]);
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

  #syncCommits(wanted: boolean): void {
    if (wanted === this.#syncsCommits) return;
    this.#all(wanted ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL', []);
    this.#syncsCommits = wanted;
  }

  #all(sql: string, parameters: readonly SqlValue[]): Record<string, SqlValue>[] {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      prepared = prepare(this.#driver, sql);
      this.#statements.set(sql, prepared);
    }
    return prepared.statement.all(prepared.arrange(parameters)) as Record<string, SqlValue>[];
  }

  /**
   * Waits for other processes without stopping the event loop. SQLite's own busy handler does stop it, and lets some
   * writers wait for ever.
   */
  async #patiently<Result>(attempt: () => Result): Promise<Result> {
    const start = performance.now();
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        if (this.#sqlite.faultOf(error) !== 'busy') throw this.#explain(error);
        const waitedMs = performance.now() - start;
        if (waitedMs > this.#options.busyTimeoutMs) throw this.#explain(error);
        await pause(waitedMs);
      }
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

interface Prepared {
  readonly statement: SqliteStatement;
  /** From the order of $1, $2, … to the order in which they stand in the text. */
  readonly arrange: (parameters: readonly SqlValue[]) => readonly SqlValue[];
}

function prepare(driver: SqliteDriver, sql: string): Prepared {
  const order: number[] = [];
  const positional = sql.replaceAll(/\$(\d+)/g, (_match, number: string) => {
    order.push(Number(number) - 1);
    return '?';
  });
  const isInOrder = order.every((parameter, position) => parameter === position);
  const count = Math.max(0, ...order.map((parameter) => parameter + 1));
  return {
    statement: driver.prepare(positional),
    arrange: (parameters) => {
      // One library would bind NULL to what is missing.
      if (parameters.length !== count)
        throw new Error(`${count} parameters wanted, ${parameters.length} given: ${sql}`);
      return isInOrder ? parameters : order.map((index) => parameters[index] ?? null);
    },
  };
}

function pause(waitedMs: number): Promise<void> {
  return new Promise((resume) => {
    if (waitedMs > EAGER_AFTER_MS) setImmediate(resume);
    else setTimeout(resume, 1);
  });
}

/**
 * SQLite gives its side files the mode of the main one. A file that exists is not opened here: closing it would drop
 * the locks that this process holds on it (POSIX).
 */
function createForOwnerOnly(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (existsSync(path)) return;
    throw explainFault(path, faultOfSystemError(error), error);
  }
}
