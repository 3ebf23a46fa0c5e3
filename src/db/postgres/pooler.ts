import type { Client, ClientConfig } from 'pg';
import { DatabaseError } from '../database.ts';

const POOLER_PROBLEM =
  'a pooler hands this connection to other clients after each transaction, which loses settings, prepared statements and locks';
const POOLER_ADVICE =
  'put the pooler into session mode (PgBouncer, Pgcat: pool_mode = session; Supabase: port 5432 instead of 6543), or connect to the database directly';

export function poolerError(location: string): DatabaseError {
  return new DatabaseError('refused', `${location}: ${POOLER_PROBLEM}`, { advice: POOLER_ADVICE });
}

/** An exhausted pool in session mode makes the second client wait; a pool in transaction mode does not. */
const TIMEOUT_MS = 2000;
const ATTEMPTS = 4;

/**
 * Refuses a pooler that is not in session mode, before any setting is made on its connections: while a second client
 * holds a transaction open, each client must keep the backend that it had.
 */
export async function assertSessionPooling(
  client: Client,
  config: ClientConfig,
  openClient: (config: ClientConfig) => Client,
  location: string,
): Promise<void> {
  const backend = await backendOf(client);
  const second = openClient({ ...config, connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS });
  second.on('error', () => undefined);
  let isShared = false;
  try {
    await second.connect();
    await second.query('BEGIN');
    isShared = (await backendOf(second)) === backend;
    for (let attempt = 0; attempt < ATTEMPTS && !isShared; attempt += 1)
      isShared = (await backendOf(client)) !== backend;
  } catch (error) {
    isShared = error instanceof Error && /statement pooling/.test(error.message);
  } finally {
    await second.query('ROLLBACK').catch(() => undefined);
    void second.end().catch(() => undefined);
  }
  if (isShared) throw poolerError(location);
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid;
}
