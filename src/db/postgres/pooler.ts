import type { Client, ClientConfig } from 'pg';
import { DatabaseError } from '../database.ts';

/** How to name the cause, and what to do about it, wherever it is found. */
const POOLER_ADVICE =
  'a pooler hands this connection to other clients after each transaction, which loses settings, prepared statements and locks; put the pooler into session mode (PgBouncer, Pgcat: pool_mode = session; Supabase: port 5432 in place of 6543), or connect to the database directly';

export function isPooled(location: string): DatabaseError {
  return new DatabaseError('refused', `${location}: ${POOLER_ADVICE}`);
}

/** A pool in session mode that has no connection left lets a second client wait; one in transaction mode does not. */
const PATIENCE_MS = 2000;
const ATTEMPTS = 4;

/**
 * Refuses a pooler that is not in session mode, before anything was set on its connections: a second client holds a
 * transaction open, and neither may be served by the other's backend, nor by a new one.
 */
export async function assertSessionPooling(
  client: Client,
  config: ClientConfig,
  openClient: (config: ClientConfig) => Client,
  location: string,
): Promise<void> {
  const backend = await backendOf(client);
  const second = openClient({ ...config, connectionTimeoutMillis: PATIENCE_MS, query_timeout: PATIENCE_MS });
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
  if (isShared) throw isPooled(location);
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid;
}
