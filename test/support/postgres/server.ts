import { Client, type QueryResultRow } from 'pg';

export const TEST_SCHEMA = 'colibri_test_';

/** Behind the port's back, as anybody with psql could. */
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
