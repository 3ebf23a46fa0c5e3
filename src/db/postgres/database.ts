import type { Client } from 'pg';
import { FifoLock } from '../../fifo-lock.ts';
import {
  type Database,
  DatabaseError,
  type Durability,
  type EnteredCall,
  type Reader,
  type Transaction,
  type WriteOptions,
} from '../database.ts';
import { assertProcessId, isProcessId } from '../process-id.ts';
import { type Connection, Connector } from './connection.ts';
import { readDurability } from './durability.ts';
import { DATABASE_CLOCK, enterCallStatement } from './enter-call.ts';
import { explainPostgresFault, isConnectionEnded, isSessionChanged, REPLICA } from './errors.ts';
import { poolerError } from './pooler.ts';
import { toStatement } from './protocol/statement.ts';
import { sameSession, sameSessionAs } from './session.ts';
import { PostgresTransaction } from './transaction.ts';
import { type PostgresUrl, parsePostgresUrl } from './url.ts';
import { CREATE_MARK, lockStatement } from './write-lock.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly readOnly: boolean;
  /** `relaxed` never waits for the server's disk: a change survives a crash of this process, not of the server. */
  readonly durability: 'full' | 'relaxed';
  /** How long to wait for other writers, and for a server that restarts, before giving up. */
  readonly busyTimeoutMs: number;
  /** The limit for one statement. */
  readonly statementTimeoutMs: number;
  readonly idleTimeoutMs?: number;
  /** For verification, which reports a changed schema instead of refusing it. */
  readonly acceptsAnySchema?: boolean;
  /** For `copy`, the only writer of an unfinished copy. */
  readonly acceptsUnfinished?: boolean;
  readonly needsLedger?: boolean;
}

/** The first query takes the snapshot. A reader blocks no writer, so it may be idle between two statements. */
const BEGIN_READ = toStatement('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', []);
const PREPARE_READ = `SELECT set_config('idle_in_transaction_session_timeout', '0', true), ${sameSession('$1')}`;
const BEGIN_WRITE = toStatement('BEGIN', []);

const INSPECT = `SELECT current_schema() AS schema, pg_is_in_recovery() AS is_replica,
  current_setting('server_encoding') AS encoding,
  EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relname = 'colibri') AS is_ours,
  EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
          AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')) AS is_used`;

interface Inspection {
  readonly schema: string | null;
  readonly is_replica: number;
  readonly encoding: string;
  readonly is_ours: number;
  readonly is_used: number;
}

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const url = parsePostgresUrl(options.url);
  if (url === undefined)
    throw new DatabaseError('refused', 'COLIBRI_DATABASE_URL is not a PostgreSQL URL', {
      advice: 'set it to a URL such as postgres://user:password@host:5432/database',
    });
  const database = new PostgresDatabase(url, { ...options, ...url.timeouts });
  try {
    await database.prepareSchema();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

class PostgresDatabase implements Database {
  readonly engine = 'postgres';
  readonly clock = DATABASE_CLOCK;
  readonly location: string;
  readonly #url: PostgresUrl;
  readonly #options: PostgresOptions;
  readonly #connector: Connector;
  /** The one connection can hold only one transaction at a time. */
  readonly #connectionLock = new FifoLock();

  constructor(url: PostgresUrl, options: PostgresOptions) {
    this.location = url.location;
    this.#url = url;
    this.#options = options;
    this.#connector = new Connector(url, options);
  }

  /** Reads before it writes: a schema of another program is refused unchanged. */
  async prepareSchema(): Promise<void> {
    await this.#guard(async () => {
      const { client } = await this.#connector.connection();
      const { acceptsAnySchema, readOnly, needsLedger } = this.#options;
      if (acceptsAnySchema || (await this.#hasLedger(client)) || readOnly || needsLedger) return;
      try {
        await client.query(CREATE_MARK);
      } catch (error) {
        // IF NOT EXISTS still fails for some of several sessions that create the same table at the same time.
        if (!(await this.#hasLedger(client))) throw error;
      }
    });
  }

  read<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    return this.#withConnection(async (connection) => {
      const transaction = this.#createTransaction(connection);
      transaction.begin(BEGIN_READ, toStatement(PREPARE_READ, [connection.mark]));
      const result = await runWork(transaction, work);
      // The result does not depend on the end of a read transaction, and later statements queue behind it.
      transaction.commitUnchanged().catch(() => this.#connector.drop(connection));
      return result;
    });
  }

  write<Result>({ durable }: WriteOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const isDurable = durable === 'always' || (durable && this.#options.durability === 'full');
    return this.#withConnection(async (connection) => {
      const transaction = this.#createTransaction(connection);
      // Not awaited: later statements on the connection run after the lock is held, or fail with it.
      transaction.begin(BEGIN_WRITE, toStatement(this.#lockStatement('$1', isDurable), [connection.mark]));
      const result = await runWork(transaction, work);
      await this.#commit(transaction, connection);
      return result;
    });
  }

  async enterCall(call: EnteredCall, work: (transaction: Transaction) => Promise<number>): Promise<number> {
    const [row] = await this.#withConnection(async (connection) => {
      const transaction = this.#createTransaction(connection);
      const { sql, parameters } = enterCallStatement(call, (mark) => this.#lockStatement(mark, false));
      try {
        return await transaction.query<{ idx: number }>(sql, [...parameters, connection.mark]);
      } catch (error) {
        const { failure } = transaction;
        throw failure === undefined ? error : await this.#resolveFailure(failure, connection);
      }
    });
    return row?.idx ?? this.write({ durable: false }, work);
  }

  connectionCount(): number {
    return this.#connector.count;
  }

  schemaVersion(): Promise<number> {
    return this.#connectionLock.run(() =>
      this.#guard(async () => {
        const connection = await this.#connector.connection();
        const hasLedger = await this.#hasLedger(connection.client);
        return hasLedger ? this.#createTransaction(connection).schemaVersion() : 0;
      }),
    );
  }

  async enlist(processId: string): Promise<void> {
    assertProcessId(processId);
    return this.#connectionLock.run(() => this.#guard(() => this.#connector.enlist(processId)));
  }

  /** Without the connection lock, because it is also called inside transactions. */
  async isAlive(processId: string): Promise<boolean> {
    if (!isProcessId(processId)) return false;
    return this.#guard(() => this.#connector.isEnlisted(processId));
  }

  async durability(): Promise<Durability> {
    if (this.#options.durability === 'relaxed') return { level: 'relaxed' };
    return this.read(readDurability);
  }

  async close(): Promise<void> {
    await this.#connectionLock.run(() => this.#connector.close());
  }

  #createTransaction(connection: Connection): PostgresTransaction {
    return new PostgresTransaction(connection, this.#explainLost);
  }

  #lockStatement(mark: string, isDurable: boolean): string {
    return lockStatement(mark, { isDurable, acceptsUnfinished: this.#options.acceptsUnfinished === true });
  }

  #withConnection<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    return this.#connectionLock.run(async () => {
      const connection = await this.#guard(() => this.#connector.liveConnection());
      try {
        return await work(connection);
      } catch (error) {
        const isInDoubt = error instanceof DatabaseError && error.fault === 'unknown';
        throw isInDoubt ? error : await this.#undo(connection, error);
      } finally {
        this.#connector.release();
      }
    });
  }

  async #commit(transaction: PostgresTransaction, connection: Connection): Promise<void> {
    try {
      // The server answers in order: after COMMIT every earlier statement has its answer.
      await transaction.commit();
      if (transaction.failure === undefined) return;
    } catch (error) {
      if (transaction.failure === undefined) throw error;
    }
    throw await this.#resolveFailure(transaction.failure, connection);
  }

  /** A session that still answers has rolled back. The severity does not tell: it may be in any language. */
  async #resolveFailure(failure: unknown, connection: Connection): Promise<unknown> {
    const session = isConnectionEnded(failure) ? 'gone' : await this.#rollback(connection);
    if (session === 'gone') return this.#inDoubt(connection);
    return session === 'changed' ? poolerError(this.location) : this.#explainLost(failure);
  }

  async #inDoubt(connection: Connection): Promise<DatabaseError> {
    await this.#connector.drop(connection);
    return new DatabaseError(
      'unknown',
      `${this.location}: the connection was lost during the commit, so the change may have been made or not`,
      { advice: 'check whether it was made before you repeat it' },
    );
  }

  /** Rolls back, and returns the error to throw: a changed backend explains every other failure. */
  async #undo(connection: Connection, error: unknown): Promise<unknown> {
    const session = await this.#rollback(connection);
    return session === 'changed' ? poolerError(this.location) : error;
  }

  async #rollback(connection: Connection): Promise<'same' | 'changed' | 'gone'> {
    try {
      connection.pipeline.flush();
      await connection.client.query(`ROLLBACK; SELECT ${sameSessionAs(connection.mark)}`);
      return 'same';
    } catch (error) {
      await this.#connector.drop(connection);
      return isSessionChanged(error) ? 'changed' : 'gone';
    }
  }

  /** False for an empty schema. Throws for a database that cannot hold a ledger. */
  async #hasLedger(client: Client): Promise<boolean> {
    const [found] = (await client.query<Inspection>(INSPECT)).rows;
    if (found?.is_replica === 1 && !this.#options.readOnly) throw replicaError(this.location);
    if (found?.schema === null) throw missingSchemaError(this.location);
    // An existing ledger in another encoding can still be read, to copy it out.
    const isOnlyRead = this.#options.readOnly && found?.is_ours === 1;
    if (found !== undefined && found.encoding !== 'UTF8' && !isOnlyRead)
      throw encodingError(this.location, found.encoding);
    if (found?.is_used === 0) return false;
    if (found?.is_ours === 1) return true;
    throw new DatabaseError('corrupt', `${this.location} holds tables of another program`, {
      advice: 'use an empty database, or a schema of its own (?options=-c%20search_path%3Dcolibri)',
    });
  }

  async #guard<Result>(action: () => Promise<Result>): Promise<Result> {
    try {
      return await action();
    } catch (error) {
      throw explainPostgresFault(this.#connector.causeOf(error), { ...this.#url, wasConnected: false });
    }
  }

  readonly #explainLost = (error: unknown): unknown =>
    explainPostgresFault(this.#connector.causeOf(error), { ...this.#url, wasConnected: true });
}

async function runWork<Result>(
  transaction: PostgresTransaction,
  work: (transaction: PostgresTransaction) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(transaction);
  } catch (error) {
    transaction.end();
    throw error;
  }
}

/** Thrown on opening: otherwise the first call of an agent would fail. */
function replicaError(location: string): DatabaseError {
  return new DatabaseError(REPLICA.fault, `${location}: ${REPLICA.problem}`, { advice: REPLICA.advice });
}

function missingSchemaError(location: string): DatabaseError {
  const problem = `${location}: the schema that search_path names does not exist`;
  return new DatabaseError('unavailable', problem, { advice: 'create it' });
}

/** LATIN1 lacks most characters, and SQL_ASCII accepts any bytes as text. */
function encodingError(location: string, encoding: string): DatabaseError {
  const problem = `${location}: the encoding of this database is ${encoding}, which cannot hold every text`;
  const advice = "create one with CREATE DATABASE colibri ENCODING 'UTF8' TEMPLATE template0";
  return new DatabaseError('refused', problem, { advice });
}
