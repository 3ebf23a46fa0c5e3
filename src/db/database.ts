import { type AdviceOptions, AdvisedError } from '../errors.ts';

/** The port to the store. One SQL text with $1-style parameters serves every engine behind it. */

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

export type Engine = 'sqlite' | 'postgres';

export interface Reader {
  readonly engine: Engine;
  /**
   * Runs one statement and returns its rows, those of RETURNING included. A long text comes more quickly as the bytes
   * that it is stored in: `convert_to(text, 'UTF8')`.
   */
  query<Shape = Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Shape[]>;
}

/** A reader whose statements take effect together or not at all; only `write` hands one out. */
export interface Transaction extends Reader {
  /**
   * Asks for one statement whose rows nobody needs. Statements take effect in the order in which they were asked for;
   * one that fails fails the transaction, at the latest when it ends.
   */
  send(sql: string, parameters?: readonly SqlValue[]): void;
  /** The same, for the end of the transaction: of several with the same text only the last takes effect. */
  sendAtCommit(sql: string, parameters: readonly SqlValue[]): void;
  /** Runs a text of several statements without parameters: migrations. */
  run(script: string): Promise<void>;
  schemaVersion(): Promise<number>;
  setSchemaVersion(version: number): Promise<void>;
}

export interface WriteOptions {
  /** True: when `write` resolves the change has reached the disk. False: it survives a crash of this process. */
  readonly durable: boolean;
  /** For who copies a ledger: nobody else may write to a copy that is not finished. */
  readonly evenUnfinished?: boolean;
}

/** What an acknowledged change survives, and why it is less than asked for, where it is. */
export interface Durability {
  readonly level: 'full' | 'relaxed';
  readonly weakness?: string;
}

export interface Database {
  readonly engine: Engine;
  /** Where the data is, fit to be shown to people: never a password. */
  readonly location: string;
  /** Statements inside see one state of the database. */
  read<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result>;
  /**
   * Writers in every process take turns; a throw undoes everything. The work may begin before its turn has come: its
   * statements wait for it. Never to be awaited inside another transaction.
   */
  write<Result>(options: WriteOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Where a round trip is dear: one statement that is a transaction of its own and does not wait for the disk. The text
   * goes on a WITH list whose first member is `turn`; to read from that is to wait for one's turn to write.
   */
  writeInOneStatement?<Shape>(sql: string, parameters: readonly SqlValue[]): Promise<Shape[]>;
  /** How often the connection was made: after a new one, what did not wait for the disk may be gone. */
  connections?(): number;
  /** The number of the last migration; 0 when the database is empty. Refuses a database of another program. */
  schemaVersion(): Promise<number>;
  /** Marks this process as alive until it closes the database or dies, however it dies. Refuses an ill-formed id. */
  enlist(processId: string): Promise<void>;
  /** False for an ill-formed id, before anything is looked up by it: no such process can have enlisted. */
  isAlive(processId: string): Promise<boolean>;
  durability(): Promise<Durability>;
  close(): Promise<void>;
}

/**
 * `lost`: the connection broke before anything was committed; another try gets a new one. `unknown`: it broke while a
 * change was being committed, so that it may have been made or not. `unsynced`: it was committed, and the disk failed to
 * confirm that it is stored. `refused`: another try meets the same answer, as
 * long as nobody changes this program or its configuration.
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

/** A failure of the store; its advice is the next step of the person who runs the program. */
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
