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
import { PostgresLink } from './connection.ts';
import { readDurability } from './durability.ts';
import { enterCallStatement } from './enter-call.ts';
import { explainPostgresFault, isConnectionEnded, isSessionChanged, REPLICA } from './errors.ts';
import { isPooled } from './pooler.ts';
import { toStatement } from './protocol/statement.ts';
import { sameSession, sameSessionAs } from './session.ts';
import { Scope, type Way } from './transaction.ts';
import { type PostgresUrl, parsePostgresUrl } from './url.ts';
import { CREATE_MARK, lockStatement } from './write-lock.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly readOnly: boolean;
  /** `relaxed` never waits for the server's disk: what is acknowledged survives this process, not the server. */
  readonly durability: 'full' | 'relaxed';
  /** How long to wait for other writers, and for a server that restarts, before giving up. */
  readonly busyTimeoutMs: number;
  /** How long the server may work on one statement. */
  readonly statementTimeoutMs: number;
  /** For verification, which reports a changed schema: the database is opened whatever it holds. */
  readonly acceptsAnySchema?: boolean;
  /** For `copy`, the only writer of an unfinished copy. */
  readonly acceptsUnfinished?: boolean;
}

/** The first query takes the snapshot. Nobody waits for a reader, so it may take its time between two questions. */
const BEGIN_READ = toStatement('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', []);
const PREPARE_READ = `SELECT set_config('idle_in_transaction_session_timeout', '0', true), ${sameSession('$1')}`;
const BEGIN_WRITE = toStatement('BEGIN', []);

const LOOK = `SELECT current_schema() AS schema, pg_is_in_recovery() AS is_replica,
  current_setting('server_encoding') AS encoding,
  EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relname = 'colibri') AS is_ours,
  EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
          AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')) AS is_used`;

interface Look {
  readonly schema: string | null;
  readonly is_replica: number;
  readonly encoding: string;
  readonly is_ours: number;
  readonly is_used: number;
}

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const url = parsePostgresUrl(options.url);
  if (url === undefined) throw new DatabaseError('refused', 'COLIBRI_DATABASE_URL is not a URL of PostgreSQL');
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
  readonly location: string;
  readonly #url: PostgresUrl;
  readonly #options: PostgresOptions;
  readonly #link: PostgresLink;
  /** One connection holds one transaction: whoever comes second waits for the first to end. */
  readonly #turn = new FifoLock();

  constructor(url: PostgresUrl, options: PostgresOptions) {
    this.location = url.location;
    this.#url = url;
    this.#options = options;
    this.#link = new PostgresLink(url, options);
  }

  /** Looks before it touches: a schema of another program is refused as it is. */
  async prepareSchema(): Promise<void> {
    await this.#guard(async () => {
      const { client } = await this.#link.way();
      if (this.#options.acceptsAnySchema === true) return;
      if ((await this.#look(client)) || this.#options.readOnly) return;
      try {
        await client.query(CREATE_MARK);
      } catch (error) {
        // Of several that create the same table at the same moment some are told that it exists, whatever they asked.
        if (!(await this.#look(client))) throw error;
      }
    });
  }

  read<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async (way) => {
      const scope = new Scope(way, this.#explainLost);
      scope.start(BEGIN_READ, toStatement(PREPARE_READ, [way.mark]));
      const result = await inside(scope, work);
      // Nothing depends on how a reader ends; the next statement comes behind it in any case.
      scope.leave().catch(() => this.#link.drop());
      return result;
    });
  }

  write<Result>({ durable }: WriteOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const isDurable = durable && this.#options.durability === 'full';
    return this.#inTurn(async (way) => {
      const scope = new Scope(way, this.#explainLost);
      const lock = this.#lockStatement('$1', isDurable);
      // Not awaited: on one connection whatever the work asks for comes after it, or fails with it.
      scope.start(BEGIN_WRITE, toStatement(lock, [way.mark]));
      const result = await inside(scope, work);
      await this.#commit(scope, way);
      return result;
    });
  }

  async enterCall(call: EnteredCall, work: (transaction: Transaction) => Promise<number>): Promise<number> {
    const [row] = await this.#inTurn(async (way) => {
      const scope = new Scope(way, this.#explainLost);
      const { sql, parameters } = enterCallStatement(call, (mark) => this.#lockStatement(mark, false));
      try {
        return await scope.query<{ idx: number }>(sql, [...parameters, way.mark]);
      } catch (error) {
        throw scope.failure === undefined ? error : await this.#resolveFailure(scope.failure, way);
      }
    });
    return row?.idx ?? this.write({ durable: false }, work);
  }

  #lockStatement(mark: string, isDurable: boolean): string {
    return lockStatement(mark, { isDurable, acceptsUnfinished: this.#options.acceptsUnfinished === true });
  }

  connectionCount(): number {
    return this.#link.connections;
  }

  schemaVersion(): Promise<number> {
    return this.#turn.run(() =>
      this.#guard(async () => {
        const way = await this.#link.way();
        return (await this.#look(way.client)) ? new Scope(way, this.#explainLost).schemaVersion() : 0;
      }),
    );
  }

  async enlist(processId: string): Promise<void> {
    assertProcessId(processId);
    return this.#turn.run(() => this.#guard(() => this.#link.enlist(processId)));
  }

  /** Out of turn: it is asked inside of transactions too. */
  async isAlive(processId: string): Promise<boolean> {
    if (!isProcessId(processId)) return false;
    return this.#guard(() => this.#link.isEnlisted(processId));
  }

  async durability(): Promise<Durability> {
    if (this.#options.durability === 'relaxed') return { level: 'relaxed' };
    return this.read(readDurability);
  }

  async close(): Promise<void> {
    await this.#turn.run(() => this.#link.close());
  }

  #inTurn<Result>(work: (way: Way) => Promise<Result>): Promise<Result> {
    return this.#turn.run(async () => {
      const way = await this.#guard(() => this.#link.liveConnection());
      try {
        return await work(way);
      } catch (error) {
        throw error instanceof DatabaseError && error.fault === 'unknown' ? error : await this.#undo(way, error);
      } finally {
        this.#link.rest();
      }
    });
  }

  async #commit(scope: Scope, way: Way): Promise<void> {
    try {
      // The server answers in order: by now it has answered everything that was sent before.
      await scope.commit();
      if (scope.failure === undefined) return;
    } catch (error) {
      // Otherwise the scope knows it, and what came before it: a statement that the server refused undoes the whole.
      if (scope.failure === undefined) throw error;
    }
    throw await this.#resolveFailure(scope.failure, way);
  }

  /** A session that still answers has undone the transaction. The severity does not tell: it may be in any language. */
  async #resolveFailure(failure: unknown, way: Way): Promise<unknown> {
    const session = isConnectionEnded(failure) ? 'gone' : await this.#rollBack(way);
    if (session === 'gone') return this.#inDoubt();
    return session === 'changed' ? isPooled(this.location) : this.#explainLost(failure);
  }

  async #inDoubt(): Promise<DatabaseError> {
    await this.#link.drop();
    return new DatabaseError(
      'unknown',
      `${this.location}: the connection was lost while the change was being committed, so it may have been made or not; look before you repeat it`,
    );
  }

  /** Ends a transaction that failed. Returns what to throw: a backend that has changed explains every other failure. */
  async #undo(way: Way, error: unknown): Promise<unknown> {
    const session = await this.#rollBack(way);
    return session === 'changed' ? isPooled(this.location) : error;
  }

  async #rollBack({ client, pipeline, mark }: Way): Promise<'same' | 'changed' | 'gone'> {
    try {
      pipeline.flush();
      await client.query(`ROLLBACK; SELECT ${sameSessionAs(mark)}`);
      return 'same';
    } catch (error) {
      await this.#link.drop();
      return isSessionChanged(error) ? 'changed' : 'gone';
    }
  }

  /** True for a ledger, false for nothing at all. */
  async #look(client: Client): Promise<boolean> {
    const { rows } = await client.query<Look>(LOOK);
    const [found] = rows;
    if (found?.is_replica === 1 && !this.#options.readOnly) throw isReplica(this.location);
    if (found?.schema === null) throw noSchema(this.location);
    // Whoever has a ledger in such a database may read it, to copy it out.
    const isOnlyRead = this.#options.readOnly && found?.is_ours === 1;
    if (found !== undefined && found.encoding !== 'UTF8' && !isOnlyRead) throw notUtf8(this.location, found.encoding);
    if (found?.is_used === 0) return false;
    if (found?.is_ours === 1) return true;
    throw new DatabaseError(
      'corrupt',
      `${this.location} holds tables of another program; use a database of its own, or a schema (?options=-c%20search_path%3Dcolibri)`,
    );
  }

  async #guard<Result>(action: () => Promise<Result>): Promise<Result> {
    try {
      return await action();
    } catch (error) {
      throw explainPostgresFault(this.#link.causeOf(error), { ...this.#url, wasConnected: false });
    }
  }

  readonly #explainLost = (error: unknown): unknown =>
    explainPostgresFault(this.#link.causeOf(error), { ...this.#url, wasConnected: true });
}

async function inside<Result>(scope: Scope, work: (scope: Scope) => Promise<Result>): Promise<Result> {
  try {
    return await work(scope);
  } catch (error) {
    scope.end();
    throw error;
  }
}

/** Said when it is opened: the first write would be the first call of an agent. */
function isReplica(location: string): DatabaseError {
  const [fault, advice] = REPLICA;
  return new DatabaseError(fault, `${location}: ${advice}`);
}

function noSchema(location: string): DatabaseError {
  return new DatabaseError('unavailable', `${location}: the schema that search_path names does not exist; create it`);
}

/** LATIN1 lacks most characters, and SQL_ASCII takes any bytes for text. */
function notUtf8(location: string, encoding: string): DatabaseError {
  return new DatabaseError(
    'refused',
    `${location}: the encoding of this database is ${encoding}, which cannot hold every text; create one with CREATE DATABASE colibri ENCODING 'UTF8' TEMPLATE template0`,
  );
}
