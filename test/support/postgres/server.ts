import { Client } from 'pg';

export const TEST_SCHEMA = 'colibri_test_';

/** Behind the port's back, as anybody with psql could. */
export async function runOn(url: string, script: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(script);
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
