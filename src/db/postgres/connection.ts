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
import type { Way } from './transaction.ts';
import type { PostgresUrl } from './url.ts';

/** A connection that nobody uses is given back, so that a server has as many as there are agents at work. */
const IDLE_MS = 60_000;
const RETRY_MS = 50;
const MAX_RETRY_MS = 500;
/** Who does not say goodbye in this time is not there any more. */
const GOODBYE_MS = 1000;
/** Within this time after an answer a connection is taken to be alive. */
const FRESH_MS = 1000;

const types = {
  getTypeParser: (typeId: number) => {
    const parse = parserOf(typeId);
    return (text: string | null) => (text === null ? null : parse(text));
  },
};

/** The one connection of a process: opened when it is needed, opened again when it was lost. */
export class PostgresLink {
  readonly #url: PostgresUrl;
  readonly #options: PostgresOptions;
  #way: Way | undefined;
  #processId: string | undefined;
  #connections = 0;
  #lastUse = Number.NEGATIVE_INFINITY;
  /** Why the last connection ended, when it ended while nothing was being asked of it. */
  #loss: Error | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(url: PostgresUrl, options: PostgresOptions) {
    this.#url = url;
    this.#options = options;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Waits for a server that restarts; one that was never reached is an error at once. */
  async way(): Promise<Way> {
    clearTimeout(this.#idleTimer);
    if (this.#isClosed) throw new Error('the database was closed');
    if (this.#way !== undefined) return this.#way;
    const deadline = performance.now() + this.#options.busyTimeoutMs;
    for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
      try {
        return await this.#connect();
      } catch (error) {
        const isWorthwhile = isConnectionLost(error) && (this.#connections > 0 || isStartingUp(error));
        if (!isWorthwhile || performance.now() + waitMs > deadline) throw error;
        await new Promise((resume) => setTimeout(resume, waitMs));
      }
    }
  }

  /** The same, for a transaction: a connection that nobody used for a while is asked first whether it still lives. */
  async liveConnection(): Promise<Way> {
    const way = await this.way();
    if (performance.now() - this.#lastUse < FRESH_MS) return way;
    try {
      await way.client.query(`SELECT ${sameSessionAs(way.mark)}`);
      return way;
    } catch (error) {
      await this.drop();
      if (!isConnectionLost(error)) throw error;
      return this.way();
    }
  }

  /** What the server said when it ended the connection, where the driver only says that there is none. */
  causeOf(error: unknown): unknown {
    const isAfterwards = error instanceof Error && /^Client (?:has encountered|was closed)/.test(error.message);
    return isAfterwards ? (this.#loss ?? error) : error;
  }

  /** To be called after each use. */
  rest(): void {
    this.#lastUse = performance.now();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.drop(), IDLE_MS).unref();
  }

  /** A session-level lock ends with its connection, however that ends. */
  async enlist(processId: string): Promise<void> {
    this.#processId = processId;
    await enlistOn(await this.way(), processId);
    this.rest();
  }

  async isEnlisted(processId: string): Promise<boolean> {
    const { client } = await this.way();
    const { rows } = await client.query(IS_ENLISTED, presenceKey(processId));
    return rows.length > 0;
  }

  async drop(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const way = this.#way;
    this.#way = undefined;
    if (way === undefined) return;
    const { client } = way;
    const timer = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS);
    await client.end().catch(() => undefined);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.drop();
  }

  async #connect(): Promise<Way> {
    const config = this.#config();
    const client = openClient(config);
    const forget = () => {
      if (this.#way?.client === client) this.#way = undefined;
    };
    client.on('error', (error) => {
      if (this.#way?.client === client) this.#loss = error;
      forget();
    });
    client.on('end', forget);
    const way = { client, pipeline: new Pipeline(client), mark: randomBytes(16).toString('hex') };
    try {
      await client.connect();
      await this.#start(way, config);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#way = way;
    this.#loss = undefined;
    this.#connections += 1;
    this.#lastUse = performance.now();
    return this.#way;
  }

  /** Sent together: on a direct connection all of it is one round trip. */
  async #start(way: Way, config: ClientConfig): Promise<void> {
    const { client, pipeline, mark } = way;
    const isFirst = this.#connections === 0;
    const session = startSession(client, mark, this.#options);
    session.catch(() => undefined);
    if (isFirst) await assertDriver(pipeline);
    if (!(await session)) {
      if (isFirst) await assertSessionPooling(client, config, openClient, this.#url.location);
      await startPooledSession(client, mark, this.#options);
    }
    if (this.#processId !== undefined) await enlistOn(way, this.#processId);
  }

  #config(): ClientConfig {
    const { busyTimeoutMs, statementTimeoutMs } = this.#options;
    return {
      connectionString: this.#url.connectionString,
      application_name: 'colibri',
      connectionTimeoutMillis: busyTimeoutMs,
      // A little more than the server allows: a late answer is still read, a missing one ends the connection.
      query_timeout: statementTimeoutMs + busyTimeoutMs,
      keepAlive: true,
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

async function enlistOn({ client, mark }: Way, processId: string): Promise<void> {
  await client.query(ENLIST, [...presenceKey(processId), mark]);
}

/** A lock on a backend of somebody else would outlive this process. */
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
