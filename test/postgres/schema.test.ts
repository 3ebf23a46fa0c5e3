import { describe, expect } from 'vitest';
import { createTables, SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { listSchemaFacts, type SchemaFact } from '../../src/db/postgres/schema-facts.ts';
import { checkSchema } from '../../src/db/schema/check.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { AT } from '../support/ledger.ts';
import { newPostgresUrl, openTestPostgres, runOn } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createVersion } from '../support/sample-ledgers.ts';

describe('the schema that a PostgreSQL ledger is compared with', () => {
  // After a new migration: npx vitest run --project postgres test/postgres/schema.test.ts -u
  promiseTest(
    'store/schema-reference',
    'the stored schema of each version equals what the migrations create',
    async () => {
      const versions: SchemaFact[][] = [];
      for (let version = 0; version <= SCHEMA_VERSION; version += 1) versions.push(await factsOf(version));
      await expect(renderModule(versions)).toMatchFileSnapshot('../../src/db/postgres/schema.ts');
    },
  );

  promiseTest('ledger/fresh', 'a ledger of every version verifies before it is migrated', async () => {
    for (let version = 1; version <= SCHEMA_VERSION; version += 1) {
      const database = await openTestPostgres();
      await createVersion(database, version);
      expect(await database.read(checkSchema)).toMatchObject({ version, differences: [] });
    }
  });

  promiseTest('ledger/fresh', 'a ledger verifies after maintenance of the database', async () => {
    const url = await newPostgresUrl();
    const database = await openTestPostgres({ url });
    await openLedger(database, 'tester', AT);
    await runOn(url, `${ANALYZE}; REINDEX TABLE call_exits; ALTER TABLE tasks SET (autovacuum_enabled = off)`);
    expect(await database.read(checkSchema)).toMatchObject({ version: SCHEMA_VERSION, differences: [] });
  });
});

/** The tables of this ledger alone: locks on those of all tests would exceed the shared memory of the server. */
const ANALYZE = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
    EXECUTE format('ANALYZE %I', name);
  END LOOP;
END $$`;

async function factsOf(version: number): Promise<SchemaFact[]> {
  const database = await openTestPostgres();
  return database.write({ durable: false }, async (transaction) => {
    await createTables(transaction, 0, version);
    return listSchemaFacts(transaction);
  });
}

/** One line for each object, with the first and the last version that have it; null for one that is still there. */
function renderModule(versions: readonly (readonly SchemaFact[])[]): string {
  const lines = new Map<string, number[]>();
  for (const [version, facts] of versions.entries())
    for (const { kind, name, owner, text } of facts) {
      const key = JSON.stringify([kind, name, owner, text]);
      lines.set(key, [...(lines.get(key) ?? []), version]);
    }
  const sorted = [...lines]
    .map(([key, [since, ...later]]) => {
      const until = later.at(-1) ?? since;
      return `${key.slice(0, -1)},${since},${until === SCHEMA_VERSION ? null : until}]`;
    })
    .toSorted();
  return `${HEADING}\nexport const POSTGRES_SCHEMA = String.raw\`\n${sorted.join('\n')}\n\`;\n`;
}

const HEADING = `/**
 * The schema of a PostgreSQL ledger as the server describes it: kind, name, owner and definition of each object, with
 * the first and the last version that have it. Generated from the migrations by test/postgres/schema.test.ts.
 */`;
