import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished } from 'vitest';
import { placeLedger } from '../support/ledger-targets.ts';
import { queryOn, runOn } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer } from '../support/test-server.ts';

/** What a database could have as its defaults, and a client would not like. */
const HOSTILE: Readonly<Record<string, string>> = {
  extra_float_digits: '-15',
  client_encoding: 'LATIN1',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  backslash_quote: 'on',
  transform_null_equals: 'on',
  array_nulls: 'off',
  quote_all_identifiers: 'on',
  datestyle: '"German, YMD"',
  intervalstyle: 'iso_8601',
  timezone: '"Pacific/Chatham"',
  lc_numeric: '"C.UTF-8"',
  lc_time: '"C.UTF-8"',
  lc_monetary: '"C.UTF-8"',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  row_security: 'off',
  statement_timeout: '59000',
  lock_timeout: '1',
  idle_in_transaction_session_timeout: '1',
  idle_session_timeout: '300',
  transaction_timeout: '59000',
  exit_on_error: 'on',
  restrict_nonsystem_relation_kind: 'view',
  gin_fuzzy_search_limit: '1',
  synchronize_seqscans: 'on',
  session_replication_role: 'replica',
  synchronous_commit: 'local',
  client_min_messages: 'debug5',
  debug_parallel_query: 'regress',
  plan_cache_mode: 'force_generic_plan',
  search_path: 'decoy, public',
  'colibri.session': 'forged',
};

const PLANNER = ['seqscan', 'indexscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'nestloop', 'sort', 'hashagg'];

describe('an honest ledger in a database with defaults of its own', () => {
  const name = `settings_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(inject('postgresUrl'));
  url.pathname = name;
  let expected: unknown;

  beforeAll(async () => {
    await runOn(inject('postgresUrl'), `CREATE DATABASE ${name}`);
    await runOn(url.href, 'CREATE SCHEMA decoy');
    await runOn(url.href, "CREATE FUNCTION decoy.count(text) RETURNS bigint LANGUAGE sql AS 'SELECT 0'");
    await withServer(async (server) => {
      const { task_id } = await server.createTask({
        title: 'größer 🐦 \\ %',
        estimate_hours: 1 / 3,
        labels: ["o'clock"],
      });
      for (let count = 0; count < 40; count += 1) await server.createTask({ title: `word ${count}` });
      const { session_id } = await server.startSession({ task_id, auditor_id: 'tester' });
      await server.recordThought({ task_id, type: 'decision', content: 'a \\n b', metadata: { 'ä\\': 0.1 } });
      await server.finalize({ session_id });
      expected = await look(server);
    });
  });

  afterAll(() => runOn(inject('postgresUrl'), `DROP DATABASE ${name} WITH (FORCE)`));

  const single = Object.entries(HOSTILE).map(([setting, value]): [string, Record<string, string>] => [
    `${setting} = ${value}`,
    { [setting]: value },
  ]);
  const planner = Object.fromEntries(PLANNER.map((kind) => [`enable_${kind}`, 'off']));
  for (const [detail, settings] of [...single, ['no plan but the dearest', planner]] as const)
    promiseTest('postgres/settings', detail, async () => {
      await setDefaults(settings);
      await withServer(async (server) => {
        expect(await look(server)).toEqual(expected);
        const { task_id } = await server.createTask({ title: detail, estimate_hours: 0.1 });
        await server.updateTask({ task_id, status: 'cancelled' });
        await server.updateTask({ task_id: 'T-0001', description: detail });
        expected = await look(server);
      });
      expect(
        await queryOn(url.href, "SELECT relname FROM pg_class WHERE relnamespace = 'decoy'::regnamespace"),
      ).toEqual([]);
    });

  promiseTest('postgres/settings', 'every setting that Colibri sets has its value', async () => {
    const before = await readSettings();
    await setDefaults(HOSTILE);
    expect(await readSettings()).toEqual(before);
  });

  /** Settings that are left to the administrator change the speed, or are shown by server_health. */
  const LEFT = new Set(['synchronous_commit', 'debug_parallel_query', 'plan_cache_mode', 'session_replication_role']);

  async function readSettings(): Promise<unknown> {
    const names = Object.keys(HOSTILE).filter((setting) => !LEFT.has(setting) && !setting.includes('.'));
    let settings: unknown;
    await withServer(async (server) => {
      const list = names.map((setting) => `'${setting}'`).join(', ');
      settings = await server.query(
        `SELECT name, setting FROM pg_settings WHERE lower(name) IN (${list}) ORDER BY name`,
      );
      expect(settings).toHaveLength(names.length);
    });
    return settings;
  }

  async function setDefaults(settings: Readonly<Record<string, string>>): Promise<void> {
    const each = async (change: (setting: string) => string) => {
      for (const setting of Object.keys(settings)) await runOn(inject('postgresUrl'), change(setting));
    };
    await each((setting) => `ALTER DATABASE ${name} SET ${setting} = ${settings[setting]}`);
    onTestFinished(() => runOn(inject('postgresUrl'), `ALTER DATABASE ${name} RESET ALL`));
  }

  async function withServer(work: (server: TestServer) => Promise<void>): Promise<void> {
    const path = randomUUID();
    placeLedger(path, url.href);
    const server = await openServer(path);
    try {
      await work(server);
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  }
});

/** What agents see of the ledger. */
async function look(server: TestServer): Promise<unknown> {
  const call = async (name: string, input: Record<string, unknown>) => {
    const { structuredContent } = await server.client.callTool({ name, arguments: input });
    return JSON.stringify(structuredContent).replace(/"verified_at":"[^"]*"/, '');
  };
  return [
    await call('task_get', { task_id: 'T-0001', include_thought_trail: true }),
    await call('task_list', { search: 'word', sort_by: 'created', limit: 500 }),
    await call('task_list', { search: 'größer' }),
    await call('task_next_actions', { include_blocked: true, limit: 100 }),
    await call('audit_verify_chain', { task_id: 'T-0001' }),
    await call('merkle_root', { session_id: 'A-0001' }),
  ];
}
