import { randomBytes } from 'node:crypto';
import { inject, onTestFinished } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { openPostgres, type PostgresOptions } from '../../../src/db/postgres/database.ts';
import { runOn, TEST_SCHEMA } from './server.ts';

/** The URL of a new schema, which is gone at the end of the run. */
export async function newPostgresUrl(server: string = inject('postgresUrl')): Promise<string> {
  const schema = `${TEST_SCHEMA}${randomBytes(8).toString('hex')}`;
  await runOn(server, `CREATE SCHEMA ${schema}`);
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
