import { createHash, randomBytes } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';
import type { PostgresOptions } from './database.ts';
import { isConnectionLost } from './errors.ts';
import { lookUpPassword } from './password.ts';
import { assertSessionPooling } from './pooler.ts';
import { assertDriver } from './protocol/driver-check.ts';
import { Pipeline } from './protocol/pipeline.ts';
import { parserOf } from './protocol/types.ts';
import { sameSession, sameSessionAs, startPooledSession, startSession } from './session.ts';
import type { PostgresUrl } from './url.ts';

/** An unused connection is closed, unless it holds the lock that shows that this process is alive. */
const IDLE_TIMEOUT_MS = 60_000;
const RETRY_MS = 50;
const MAX_RETRY_MS = 500;
/** How often a silent process tries to enlist again: soon after the server is back, without loading it. */
const MAX_ENLIST_RETRY_MS = 10_000;
/** Servers that do not close in time are treated as dead. */
const CLOSE_TIMEOUT_MS = 1000;
/**
 * An idle connection is probed this often, as the server probes its end. After a laptop has slept, the server has
 * closed the connection and released the lock; without a probe, only the next call would notice.
 */
const KEEP_ALIVE_MS = 10_000;
/** A connection that was used this recently is assumed to be alive. */
const FRESH_MS = 1000;

const types = {
  getTypeParser: (typeId: number) => {
    const parse = parserOf(typeId);
    return (text: string | null) => (text === null ? null : parse(text));
  },
};

/** An open connection. */
export interface Connection {
  readonly client: Client;
  readonly pipeline: Pipeline;
  /** The random text that its backend was marked with; see `sameSession`. */
  readonly mark: string;
}

/** Opens the one connection of a process on demand, and again after it was lost. */
export class Connector {
  readonly #url: PostgresUrl;
  readonly #options: PostgresOptions;
  #connection: Connection | undefined;
  #processId: string | undefined;
  #count = 0;
  #lastUseMs = Number.NEGATIVE_INFINITY;
  /** Why the last connection ended, if it ended while it was idle. */
  #idleError: Error | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The connection that is being opened: a call and the next attempt to enlist share it. */
  #opening: { readonly client: Client; readonly done: Promise<Connection> } | undefined;
  #enlistTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: PostgresUrl, options: PostgresOptions) {
    this.#url = url;
    this.#options = options;
  }

  /** How many connections were opened so far. */
  get count(): number {
    return this.#count;
  }

  /** Waits for a server that restarts. Fails at once if no connection has succeeded yet. */
  async connection(): Promise<Connection> {
    clearTimeout(this.#idleTimer);
    if (this.#isClosed) throw new Error('the database was closed');
    if (this.#connection !== undefined) return this.#connection;
    const deadline = performance.now() + this.#options.busyTimeoutMs;
    for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
      try {
        return await this.#open();
      } catch (error) {
        const canRetry = isConnectionLost(error) && (this.#count > 0 || isStartingUp(error));
        if (!canRetry || performance.now() + waitMs > deadline) throw error;
        await new Promise((resume) => setTimeout(resume, waitMs));
      }
    }
  }

  /** The same for a transaction: checks a connection that was idle for a while, and replaces a dead one. */
  async liveConnection(): Promise<Connection> {
    const connection = await this.connection();
    if (performance.now() - this.#lastUseMs < FRESH_MS) return connection;
    try {
      await connection.client.query(`SELECT ${sameSessionAs(connection.mark)}`);
      return connection;
    } catch (error) {
      await this.drop(connection);
      if (!isConnectionLost(error)) throw error;
      return this.connection();
    }
  }

  /** The server's reason for ending an idle connection; the driver later reports only that it is closed. */
  causeOf(error: unknown): unknown {
    const isConsequence = error instanceof Error && /^Client (?:has encountered|was closed)/.test(error.message);
    return isConsequence ? (this.#idleError ?? error) : error;
  }

  /** Call it after each use: starts the idle timer of a process that is not enlisted. */
  release(): void {
    this.#lastUseMs = performance.now();
    clearTimeout(this.#idleTimer);
    if (this.#processId !== undefined) return;
    const { idleTimeoutMs = IDLE_TIMEOUT_MS } = this.#options;
    this.#idleTimer = setTimeout(() => void this.drop(), idleTimeoutMs).unref();
  }

  /** A session-level lock ends with its connection, even after a crash. */
  async enlist(processId: string): Promise<void> {
    this.#processId = processId;
    await lockPresence(await this.connection(), processId);
    this.release();
  }

  async isEnlisted(processId: string): Promise<boolean> {
    const { client } = await this.connection();
    const { rows } = await client.query(IS_ENLISTED, presenceKey(processId));
    return rows.length > 0;
  }

  /** Does nothing if another connection has replaced this one. */
  async drop(connection = this.#connection): Promise<void> {
    if (connection === undefined || connection !== this.#connection) return;
    clearTimeout(this.#idleTimer);
    this.#connection = undefined;
    const { client } = connection;
    const timer = setTimeout(() => client.connection.stream.destroy(), CLOSE_TIMEOUT_MS);
    await client.end().catch(() => undefined);
    clearTimeout(timer);
    void this.#enlistAgain();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#enlistTimer);
    this.#opening?.client.connection.stream.destroy();
    await this.drop();
  }

  /** Without its lock a process counts as dead to others, so the lock does not wait for the next call. */
  async #enlistAgain(waitMs = RETRY_MS): Promise<void> {
    clearTimeout(this.#enlistTimer);
    if (this.#isClosed || this.#processId === undefined || this.#connection !== undefined) return;
    await this.#open().catch(() => {
      const nextMs = Math.min(waitMs * 2, MAX_ENLIST_RETRY_MS);
      if (!this.#isClosed) this.#enlistTimer = setTimeout(() => void this.#enlistAgain(nextMs), waitMs).unref();
    });
  }

  #open(): Promise<Connection> {
    if (this.#opening !== undefined) return this.#opening.done;
    const config = this.#config();
    const client = openClient(config);
    const done = this.#connect(client, config).finally(() => {
      this.#opening = undefined;
    });
    this.#opening = { client, done };
    return done;
  }

  async #connect(client: Client, config: ClientConfig): Promise<Connection> {
    const forget = () => {
      if (this.#connection?.client !== client) return;
      this.#connection = undefined;
      void this.#enlistAgain();
    };
    client.on('error', (error) => {
      if (this.#connection?.client === client) this.#idleError = error;
      forget();
    });
    client.on('end', forget);
    const connection = { client, pipeline: new Pipeline(client), mark: randomBytes(16).toString('hex') };
    try {
      await client.connect();
      await this.#start(connection, config);
      if (this.#isClosed) throw new Error('the database was closed');
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#connection = connection;
    this.#idleError = undefined;
    this.#count += 1;
    this.#lastUseMs = performance.now();
    return connection;
  }

  /** On a direct connection the settings and the self-test of the driver share one round trip. */
  async #start(connection: Connection, config: ClientConfig): Promise<void> {
    const { client, pipeline, mark } = connection;
    const isFirst = this.#count === 0;
    const session = startSession(client, mark, this.#options);
    session.catch(() => undefined);
    if (isFirst) await assertDriver(pipeline);
    if (!(await session)) {
      if (isFirst) await assertSessionPooling(client, config, openClient, this.#url.location);
      await startPooledSession(client, mark, this.#options);
    }
    if (this.#processId !== undefined) await lockPresence(connection, this.#processId);
  }

  #config(): ClientConfig {
    const { busyTimeoutMs, statementTimeoutMs } = this.#options;
    return {
      connectionString: this.#url.connectionString,
      application_name: 'colibri',
      connectionTimeoutMillis: busyTimeoutMs,
      // Longer than the server's limit, so that a late answer is still read and a missing one ends the connection.
      query_timeout: statementTimeoutMs + busyTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      pipeline: true,
      types,
    };
  }
}

function openClient(config: ClientConfig): Client {
  const client = new Client(config);
  if (!client.password) Object.assign(client, { password: lookUpPassword });
  return client;
}

async function lockPresence({ client, mark }: Connection, processId: string): Promise<void> {
  await client.query(ENLIST, [...presenceKey(processId), mark]);
}

/** Behind a pooler, a lock on another client's backend would outlive this process. */
const ENLIST = `SELECT CASE WHEN ${sameSession('$3')} = 0 THEN pg_try_advisory_lock_shared($1, $2) END`;
const IS_ENLISTED = `SELECT 1 FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 2 AND classid = ($1::bigint & 4294967295)::oid
    AND objid = ($2::bigint & 4294967295)::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

function presenceKey(processId: string): [number, number] {
  const digest = createHash('sha256').update(processId).digest();
  return [digest.readInt32BE(0), digest.readInt32BE(4)];
}

function isStartingUp(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57P03';
}
