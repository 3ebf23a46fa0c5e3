import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { openPostgres, type PostgresOptions } from '../../../src/db/postgres.ts';

/** The URL of a schema of the running test's own, which is gone when the test is. */
export async function newPostgresUrl(server: string = inject('postgresUrl')): Promise<string> {
  const schema = `test_${randomBytes(8).toString('hex')}`;
  await runOn(server, `CREATE SCHEMA ${schema}`);
  onTestFinished(() => runOn(server, `DROP SCHEMA IF EXISTS ${schema} CASCADE`));
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
}

/** Closed with the test. The time-outs are generous, so that a slow machine changes nothing. */
export async function openTestPostgres(options: Partial<PostgresOptions> = {}): Promise<Database> {
  const url = options.url ?? (await newPostgresUrl());
  const defaults = { readOnly: false, durability: 'full', busyTimeoutMs: 30_000, statementTimeoutMs: 60_000 } as const;
  const database = await openPostgres({ ...defaults, ...options, url });
  onTestFinished(() => database.close());
  return database;
}

/** Behind the port's back, as anybody with psql could. */
export async function runOn(url: string, script: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(script);
  } finally {
    await client.end();
  }
}
