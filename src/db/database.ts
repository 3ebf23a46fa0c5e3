import { type AdviceOptions, AdvisedError } from '../errors.ts';

/**
 * The port to the store. Both adapters accept the same SQL text with $1-style parameters, and each method below gives
 * the same guarantee on SQLite and on PostgreSQL.
 */

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

export type Engine = 'sqlite' | 'postgres';

/** Statements that see one snapshot of the database. Every method throws once the transaction has ended. */
export interface Reader {
  readonly engine: Engine;
  /**
   * Runs one statement and resolves to its rows, including those of RETURNING. `convert_to(text, 'UTF8')` selects a
   * text as its stored bytes, which is faster for a long one.
   */
  query<Shape = Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Shape[]>;
  /**
   * The same for verification, which must see what is stored and not what a driver makes of it: a text that is not
   * valid UTF-8 or contains a NUL, and a value of a type that the column should not hold, arrive as bytes.
   */
  queryStored<Shape = Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Shape[]>;
}

/** Statements that commit together or not at all. Only `Database.write` creates one. */
export interface Transaction extends Reader {
  /**
   * Queues one statement whose rows are not needed. Statements take effect in the order of the calls to `query` and
   * `send`. If one fails, the transaction fails, at the latest when it commits.
   */
  send(sql: string, parameters?: readonly SqlValue[]): void;
  /** Queues one statement until the commit. A later one with the same text replaces it. */
  sendAtCommit(sql: string, parameters: readonly SqlValue[]): void;
  /** Runs a script of several statements without parameters: migrations. */
  run(script: string): Promise<void>;
  schemaVersion(): Promise<number>;
  setSchemaVersion(version: number): Promise<void>;
}

export interface ReadOptions {
  /** True if this belongs to a call whose enter has checked a moment ago that the ledger is in place. */
  readonly followsEnter?: boolean;
}

export interface WriteOptions extends ReadOptions {
  /**
   * True: the change is on disk when `write` resolves, unless the ledger is configured as relaxed; `always`: even then,
   * with everything before it. False: it survives a crash of this process.
   */
  readonly durable: boolean | 'always';
}

/** The first entry of a call and its row of `presence`, encoded before the write lock is taken. */
export interface EnteredCall {
  readonly entry: string;
  readonly leaf: string;
  /** An entry that completes this many also stores a node of the tree, which only the caller's `work` does. */
  readonly blockSize: number;
  readonly salt: string;
  /** The arguments; the entry holds a salted digest of them. */
  readonly content: string;
  readonly presence: PresenceRow;
}

/** The row of `presence` that a call inserts, and the row of an ended call of the same process that it replaces. */
export interface PresenceRow {
  readonly actor: string;
  readonly clockId: string;
  /** Null: the clock of the database. */
  readonly clockMs: number | null;
  readonly replaces: number | null;
}

/** A clock that the processes of one ledger share. Two of its times may be compared if their ids are equal. */
export interface Clock {
  readonly id: string;
  /** Null: the clock of the database, which only SQL can read. */
  nowMs(): number | null;
}

/** Tells which processes are alive, and how long others have been silent. */
export interface Liveness {
  readonly clock: Clock;
  /** Returns false for a malformed id without looking it up: no process can have enlisted with it. */
  isAlive(processId: string): Promise<boolean>;
}

/** What an acknowledged change survives, and why that is less than configured, if it is. */
export interface Durability {
  readonly level: 'full' | 'relaxed';
  readonly weakness?: string;
}

export interface Database extends Liveness {
  readonly engine: Engine;
  /** The path or URL of the data, without its password: safe to print. */
  readonly location: string;
  /** Runs `work` on one snapshot. Does not block writers. */
  read<Result>(work: (reader: Reader) => Promise<Result>, options?: ReadOptions): Promise<Result>;
  /**
   * Runs `work` in a transaction that holds the write lock, which only one process has at a time. Commits when `work`
   * resolves and rolls back when it throws. `work` may start before the lock is held: its statements wait for it.
   * Refuses a ledger that a newer version has migrated, and an unfinished copy unless the database was opened for one.
   * Must not be awaited inside another transaction of the same database.
   */
  write<Result>(options: WriteOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Commits what `write({ durable: false }, work)` would, and resolves to the index of the new entry. `work` appends
   * `call` and inserts its row; an adapter that can do the same in fewer round trips does not run it.
   */
  enterCall(call: EnteredCall, work: (transaction: Transaction) => Promise<number>): Promise<number>;
  /**
   * How many connections were opened so far. When it has grown, commits that were not durable may be lost. Always 0 if
   * this process cannot outlive such a loss.
   */
  connectionCount(): number;
  /** The number of the last applied migration; 0 for an empty database. Refuses a database of another program. */
  schemaVersion(): Promise<number>;
  /** Marks this process as alive until it closes the database or exits, even by a crash. Refuses a malformed id. */
  enlist(processId: string): Promise<void>;
  durability(): Promise<Durability>;
  /** Waits for the running transaction. Closing twice is allowed; every other method throws afterwards. */
  close(): Promise<void>;
}

/**
 * `lost`: the connection broke before anything was committed; a retry opens a new one. `unknown`: it broke during the
 * commit, which may have succeeded or not. `unsynced`: the commit succeeded, but the disk failed to confirm it.
 * `refused`: a retry fails in the same way until the program or its configuration changes.
 */
export type DatabaseFault =
  | 'busy'
  | 'full'
  | 'corrupt'
  | 'readonly'
  | 'unavailable'
  | 'refused'
  | 'lost'
  | 'unknown'
  | 'unsynced'
  | 'other';

/** The store cannot do its work now; the advice is the user's next step. */
export class DatabaseError extends AdvisedError {
  constructor(
    readonly fault: DatabaseFault,
    problem: string,
    options?: AdviceOptions,
  ) {
    super(problem, options);
    this.name = 'DatabaseError';
  }
}

/** What this process has open is no longer the ledger that others use. */
export class LedgerReplaced extends DatabaseError {
  constructor(location: string, user = 'the server', advice = 'restart the server') {
    super('unavailable', `${location}: the file was deleted or replaced while ${user} used it`, { advice });
  }
}
