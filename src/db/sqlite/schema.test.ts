import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import { referenceSchema, renderSchema, storedSchema } from './schema.ts';

describe('the schema that an SQLite ledger is compared with first', () => {
  // After a new migration: npx vitest run --project sqlite src/db/sqlite/schema.test.ts -u
  promiseTest('store/schema-reference', 'the stored schema equals what the migrations create', async () => {
    const lines = renderSchema(await referenceSchema(SCHEMA_VERSION));
    const module = `${HEADING}\nexport const SQLITE_SCHEMA = String.raw\`\n${lines.join('\n')}\n\`;\n`;
    await expect(module).toMatchFileSnapshot('./stored-schema.ts');
  });

  promiseTest('store/schema-reference', 'the stored schema is read as it was described', async () => {
    const [stored, reference] = [storedSchema(), await referenceSchema(SCHEMA_VERSION)];
    expect(stored?.objects).toEqual(reference.objects.map((object) => ({ ...object, rootPage: '' })));
    expect(stored?.behavior).toEqual(reference.behavior);
    expect(stored?.objects.length).toBeGreaterThan(20);
    expect(stored?.behavior.size).toBeGreaterThan(10);
  });
});

const HEADING = `/**
 * The schema of an SQLite ledger: type, name, table and definition of each object, then how SQLite describes each
 * table. Generated from the migrations by schema.test.ts.
 */`;
