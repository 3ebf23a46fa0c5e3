import { randomBytes } from 'node:crypto';
import { Client, type QueryResultRow } from 'pg';
import { expect, inject, onTestFinished } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { openPostgres, type PostgresOptions } from '../../../src/db/postgres/database.ts';
import type { Cluster } from './cluster.ts';
import { blocksOf } from './docs.ts';

export const TEST_SCHEMA = 'colibri_test_';

/** Runs a script without the port, like a user with psql. */
export async function runOn(url: string, script: string): Promise<void> {
  await queryOn(url, script);
}

export async function queryOn<Shape extends QueryResultRow>(url: string, script: string): Promise<Shape[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Shape>(script);
    return rows;
  } finally {
    await client.end();
  }
}

/** For a server that outlives the tests. */
export async function dropTestSchemas(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE $1',
      [`${TEST_SCHEMA}%`],
    );
    for (const { name } of rows) await client.query(`DROP SCHEMA ${name} CASCADE`);
  } finally {
    await client.end();
  }
}

/** A new schema in the database of the URL, and the URL that makes it the current one. */
export async function newSchema(databaseUrl: string, name: string): Promise<string> {
  await runOn(databaseUrl, `CREATE SCHEMA ${name}`);
  const url = new URL(databaseUrl);
  url.searchParams.set('options', `-c search_path=${name}`);
  return url.href;
}

/** The URL of a new schema, which is gone at the end of the run. */
export async function newPostgresUrl(server?: string): Promise<string> {
  return newSchema(server ?? (await databaseOfThisFile()), uniqueName());
}

function uniqueName(): string {
  return `${TEST_SCHEMA}${randomBytes(8).toString('hex')}`;
}

let current: { readonly file: string | undefined; readonly name: string; readonly url: Promise<string> } | undefined;

/**
 * Each file of tests has a database of its own, dropped before the next one of this worker: the schema check reads the
 * catalog of a database, and took longer and longer in one with the schemas of all tests. A server that outlives the
 * tests may not allow it.
 */
function databaseOfThisFile(): Promise<string> {
  const server = inject('postgresUrl');
  if (process.env['COLIBRI_TEST_DATABASE_URL']) return Promise.resolve(server);
  const file = expect.getState().testPath;
  if (current === undefined || current.file !== file) {
    const name = uniqueName();
    current = { file, name, url: replaceDatabase(server, current?.name, name) };
  }
  return current.url;
}

async function replaceDatabase(server: string, previous: string | undefined, name: string): Promise<string> {
  if (previous !== undefined) await runOn(server, `DROP DATABASE ${previous} WITH (FORCE)`);
  await runOn(server, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
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

const DATABASE = 'colibri';

/** The roles of docs/postgres.md, made by its scripts; `createLedger` starts a server once as the owner. */
export async function createRoles(cluster: Cluster, createLedger: (ownerUrl: string) => Promise<void>): Promise<void> {
  const [roles = '', grants = ''] = blocksOf('Roles', 'sql');
  // One by one: a database cannot be created together with anything else.
  for (const statement of roles.split(';').filter((text) => text.trim() !== '')) await runOn(cluster.url(), statement);
  await createLedger(roleUrl(cluster, 'colibri_owner'));
  await runOn(roleUrl(cluster, 'colibri_owner'), grants);
}

export function roleUrl(cluster: Cluster, role: string): string {
  const url = new URL(cluster.url(DATABASE));
  url.username = role;
  return url.href;
}

/** The SQLSTATE of a refusal; undefined when the statement was carried out, which it must not be. */
export async function refusalOf(url: string, statement: string): Promise<string | undefined> {
  try {
    await queryOn(url, statement);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}
