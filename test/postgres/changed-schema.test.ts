import { describe, expect, onTestFinished } from 'vitest';
import { SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { checkSchema } from '../../src/db/schema/check.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { AT } from '../support/ledger.ts';
import { newPostgresUrl, openTestPostgres, runOn } from '../support/postgres/database.ts';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { BEFORE_SESSION_EVENTS, makeOlder } from '../support/sample-ledgers.ts';

async function newLedger(): Promise<string> {
  const url = await newPostgresUrl();
  const database = await openTestPostgres({ url });
  await openLedger(database, 'tester', AT);
  await database.close();
  return url;
}

function open(url: string) {
  return openDatabase({ mode: 'FULL', dbPath: undefined, databaseUrl: url, durability: 'relaxed', readOnly: false });
}

const TRIGGER = `CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
  CREATE TRIGGER undoing BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION undo()`;

describe('a PostgreSQL ledger whose schema was changed', () => {
  promiseTest('fault/degraded', 'a trigger on PostgreSQL', async () => {
    const env = { COLIBRI_DATABASE_URL: await newLedger() };
    await runOn(env.COLIBRI_DATABASE_URL, TRIGGER);
    const reason = /undoing differs from the schema: unexpected trigger of tasks/;
    const client = await connectRaw({ cwd: tempFolder(), env });
    expect(await client.data('server_health')).toMatchObject({
      status: 'degraded',
      problems: [{ code: 'ERR_INIT_FAILED', message: expect.stringMatching(reason) }],
    });
    await client.end();
    for (const [exitCode, command] of [
      [2, 'board'],
      [1, 'verify'],
      [1, 'doctor'],
    ] as const) {
      const { status, stdout, stderr } = await runColibri([command], env, tempFolder());
      expect([command, status]).toEqual([command, exitCode]);
      expect(stdout + stderr).toMatch(reason);
    }
  });

  for (const [name, script] of Object.entries({
    'a mark that is gone': 'DROP TABLE colibri',
    'an endless view instead of the mark': `ALTER TABLE colibri RENAME TO hidden;
      CREATE VIEW colibri AS WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n FROM forever) SELECT n AS id, n AS schema_version FROM forever`,
  }))
    promiseTest('verify/command', `${name} is tampering where the schema is otherwise a ledger`, async () => {
      const env = { COLIBRI_DATABASE_URL: await newLedger() };
      await runOn(env.COLIBRI_DATABASE_URL, script);
      const { status, stdout } = await runColibri(['verify'], env, tempFolder());
      expect(status).toBe(1);
      expect(stdout).toMatch(/colibri differs from the schema/);
      await expect(open(env.COLIBRI_DATABASE_URL)).rejects.toThrow(/another program/);
    });

  promiseTest('store/schema', 'on PostgreSQL, a ledger of an older version, before it is migrated', async () => {
    const url = await newLedger();
    await makeOlder(await openTestPostgres({ url }), TRIGGER);
    await expect(open(url)).rejects.toThrow(/undoing differs from the schema/);
    expect(await (await openTestPostgres({ url })).schemaVersion()).toBe(BEFORE_SESSION_EVENTS);
  });

  promiseTest('store/migrated', 'several servers check the schema and migrate at the same time', async () => {
    const url = await newLedger();
    await makeOlder(await openTestPostgres({ url }));
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        const database = await open(url);
        onTestFinished(() => database.close());
        await openLedger(database, 'tester', AT);
      }),
    );
    const database = await openTestPostgres({ url, readOnly: true });
    expect(await database.read(checkSchema)).toMatchObject({ version: SCHEMA_VERSION, differences: [] });
  });
});
