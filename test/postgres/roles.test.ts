import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openCurrent } from '../clients/official-clients.ts';
import { createCall, playSession } from '../clients/whole-session.ts';
import { SigningProject } from '../proofs/support.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { createRoles, queryOn, refusalOf, roleUrl, runOn } from '../support/postgres/database.ts';
import { diagnose } from '../support/postgres/docs.ts';
import { PROGRAM, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

const PERMISSION_DENIED = '42501';

let cluster: Cluster;
let server: string;
let reader: string;

beforeAll(async () => {
  cluster = await Cluster.create();
  await createRoles(cluster, async (url) => {
    const { status, stderr } = await run(['serve'], url, '.');
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('"ready"') });
  });
  server = roleUrl(cluster, 'colibri_server');
  reader = roleUrl(cluster, 'colibri_reader');
});
afterAll(() => cluster.stop());

function run(args: readonly string[], url: string, cwd = tempFolder()) {
  return runColibri(args, { COLIBRI_DATABASE_URL: url }, cwd);
}

async function withServer(url: string, mode = 'FULL') {
  return connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: url, COLIBRI_MODE: mode } });
}

describe('the role of the servers', () => {
  promiseTest('postgres/least-privilege', 'the server role can call all 14 tools', async () => {
    const env = { COLIBRI_DATABASE_URL: server };
    const client = await openCurrent({ command: process.execPath, args: [PROGRAM], cwd: tempFolder(), env });
    const call = await createCall(client);
    expect(await playSession(call)).toMatch(/^[0-9a-f]{64}$/);
    await playEdits(call);
    for (const tool of ['skill_list', 'server_ping', 'server_health']) {
      expect(await call(tool)).toMatchObject({ ok: true });
    }
    expect((await call('server_health')).data).toMatchObject({ status: 'ok', db: { engine: 'postgres' } });
    await client.close();
    const called = await queryOn(reader, 'SELECT DISTINCT tool FROM calls');
    expect(called).toHaveLength(14);
    expect(await run(['verify'], reader)).toMatchObject({ status: 0, stderr: '' });
  });

  for (const table of ['ledger_entries', 'ledger_nodes', 'call_exits', 'task_versions', 'thoughts', 'session_events']) {
    promiseTest('postgres/least-privilege', `cannot change, delete or empty ${table}`, async () => {
      const [column] = await queryOn<{ name: string }>(
        reader,
        `SELECT column_name AS name FROM information_schema.columns WHERE table_name = '${table}'`,
      );
      const name = column?.name;
      for (const statement of [
        `UPDATE ${table} SET ${name} = ${name}`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
        `INSERT INTO ${table} SELECT * FROM ${table} ON CONFLICT ON CONSTRAINT ${table}_pkey DO UPDATE SET ${name} = 0`,
      ]) {
        expect([statement, await refusalOf(server, statement)]).toEqual([statement, PERMISSION_DENIED]);
      }
    });
  }

  const CHANGES_OF_THE_SCHEMA = [
    'CREATE TABLE mine (id INTEGER)',
    'ALTER TABLE ledger_entries ADD COLUMN mine TEXT',
    'DROP TABLE thoughts',
    'CREATE INDEX mine ON tasks (title)',
    'CREATE OR REPLACE VIEW actions AS SELECT 1',
    'CREATE TRIGGER mine BEFORE INSERT ON thoughts EXECUTE FUNCTION suppress_redundant_updates_trigger()',
    'CREATE RULE mine AS ON INSERT TO thoughts DO INSTEAD NOTHING',
    'CREATE SCHEMA mine',
    'UPDATE colibri SET schema_version = 0',
    'DELETE FROM colibri',
    "INSERT INTO ledger_head VALUES (2, 0, '')",
    'DELETE FROM ledger_head',
    'UPDATE call_exits SET exit_idx = 1',
    'DELETE FROM call_exits',
    'UPDATE presence SET clock_ms = 1',
    'DELETE FROM sessions',
    'DELETE FROM tasks',
  ];
  promiseTest(
    'postgres/least-privilege',
    'the server role cannot change the schema or append-only tables',
    async () => {
      for (const statement of CHANGES_OF_THE_SCHEMA) {
        expect([statement, await refusalOf(server, statement)]).toEqual([statement, PERMISSION_DENIED]);
      }
      expect(await run(['verify'], reader)).toMatchObject({ status: 0 });
    },
  );

  promiseTest('postgres/least-privilege', 'only the owner sets the options of a project', async () => {
    const change = ['project', '--review', 'person', '--as', 'ada'];
    expect(await run(change, server)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/permission denied for table project_options\); use the role of the owner/),
    });
    expect(await run(change, roleUrl(cluster, 'colibri_owner'))).toMatchObject({ status: 0 });
    expect((await run(['project'], reader)).stdout).toBe('default: review person\n');
    expect(await run(['project', '--review', 'none', '--as', 'ada'], roleUrl(cluster, 'colibri_owner'))).toMatchObject({
      status: 0,
    });
    expect(await run(['verify'], reader)).toMatchObject({ status: 0 });
  });

  promiseTest('postgres/least-privilege', 'only the owner redacts', async () => {
    const redact = ['redact', 'T-0001', '--reason', 'leaked', '--yes', '--as', 'ada'];
    expect(await run(redact, server)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/permission denied for table ledger_entries/),
    });
    expect((await run(['verify'], reader)).stdout).not.toContain('redacted');
    const { status, stdout } = await run(redact, roleUrl(cluster, 'colibri_owner'));
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('VACUUM FULL') });
    const forged = `INSERT INTO redactions SELECT 0, 0, salt, content FROM redactions LIMIT 1`;
    expect(await refusalOf(server, forged)).toBe(PERMISSION_DENIED);
    expect(await run(['verify'], reader)).toMatchObject({ status: 0, stdout: expect.stringContaining('redacted:') });
    const client = await withServer(server);
    expect(await client.call('task_update', { task_id: 'T-0001', labels: ['later'] })).toMatchObject({ ok: true });
    await client.end();
    expect(await run(['verify'], reader)).toMatchObject({ status: 0 });
  });

  promiseTest('postgres/least-privilege', 'a missing privilege is reported with how to grant it', async () => {
    await runOn(roleUrl(cluster, 'colibri_owner'), 'REVOKE INSERT ON ledger_entries FROM colibri_server');
    const client = await withServer(server);
    const answer = JSON.stringify(await client.call('task_list'));
    expect(answer).toMatch(
      /the role lacks a privilege \(permission denied for table ledger_entries\); .*docs\/postgres\.md/,
    );
    await client.end();
    await runOn(roleUrl(cluster, 'colibri_owner'), 'GRANT INSERT ON ledger_entries TO colibri_server');
    expect(await run(['verify'], reader)).toMatchObject({ status: 0 });
  });

  promiseTest('postgres/least-privilege', 'only the owner can create a ledger in an empty database', async () => {
    await runOn(cluster.url(), 'CREATE DATABASE empty');
    const url = server.replace(/colibri$/, 'empty');
    const client = await withServer(url);
    const { problems } = (await client.data('server_health')) as { problems: unknown };
    expect(problems).toMatchObject([{ message: expect.stringMatching(/schema public.*use the role of the owner/) }]);
    await client.end();
  });
});

describe('the role of the readers', () => {
  promiseTest('postgres/least-privilege', 'the reader role can serve READONLY', async () => {
    const client = await withServer(reader, 'READONLY');
    expect(await client.data('server_health')).toMatchObject({ status: 'ok', capabilities: ['ledger.read'] });
    for (const tool of ['task_list', 'task_next_actions', 'skill_list', 'server_ping'])
      expect(await client.call(tool)).toMatchObject({ ok: true });
    for (const [tool, args] of [
      ['task_get', { task_id: 'T-0001' }],
      ['thought_record_list', { task_id: 'T-0001' }],
      ['audit_verify_chain', { task_id: 'T-0001' }],
      ['merkle_root', { session_id: 'A-0001' }],
    ] as const)
      expect(await client.call(tool, args)).toMatchObject({ ok: true });
    await client.end();
  });

  for (const args of [['board'], ['show', 'T-0001'], ['next'], ['log'], ['verify']]) {
    promiseTest('postgres/least-privilege', `colibri ${args.join(' ')}`, async () => {
      expect(await run(args, reader)).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/\S/) });
    });
  }

  promiseTest('postgres/least-privilege', 'the reader role can export what its key may sign', async () => {
    const ada = new SigningProject();
    const as = (url: string, ...args: string[]) =>
      runColibri(args, { ...ada.env, COLIBRI_DATABASE_URL: url }, ada.folder);
    const COMMANDS = [
      ['export', '--all', '--out', ada.path('bundle')],
      ['board', '--html', ada.path('board.html')],
      ['prove', '0', '--out', ada.path('proof')],
      ['publish', ada.path('public')],
    ];
    for (const command of COMMANDS)
      expect(await as(reader, ...command)).toMatchObject({ stderr: expect.stringContaining('your key is not known') });
    expect(await as(server, 'checkpoint')).toMatchObject({ status: 0 });
    for (const command of COMMANDS) expect(await as(reader, ...command)).toMatchObject({ status: 0, stderr: '' });
  });

  promiseTest('postgres/least-privilege', 'the reader role cannot write', async () => {
    const tables = await queryOn<{ name: string }>(
      reader,
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
    );
    expect(tables.length).toBeGreaterThan(13);
    for (const { name } of tables)
      for (const statement of [`INSERT INTO ${name} DEFAULT VALUES`, `DELETE FROM ${name}`, `TRUNCATE ${name}`])
        expect([statement, await refusalOf(reader, statement)]).not.toEqual([statement, undefined]);
    const client = await withServer(reader);
    expect(JSON.stringify(await client.call('task_list'))).toMatch(/the role lacks a privilege/);
    await client.end();
  });
});

describe('colibri doctor', () => {
  const FINDINGS = [
    ['colibri_owner', 'FULL', /^warn colibri_owner may change and delete entries/],
    ['colibri_server', 'FULL', /^ok colibri_server may add entries but not change them/],
    ['colibri_reader', 'FULL', /^fail colibri_reader may not write the ledger .*docs\/postgres\.md/],
    ['colibri_reader', 'READONLY', /^ok colibri_reader may only read/],
  ] as const;
  for (const [role, mode, says] of FINDINGS) {
    promiseTest('doctor/finds', `reports the privileges of ${role} in mode ${mode}`, async () => {
      const { find } = await diagnose(roleUrl(cluster, role), { COLIBRI_MODE: mode });
      const found = find('role');
      expect(`${found?.status} ${found?.message} ${found?.fix}`).toMatch(says);
      expect(find('ledger')?.status).toBe('ok');
    });
  }

  promiseTest('doctor/finds', 'a table that an upgrade has added and that lacks its grants', async () => {
    const owner = roleUrl(cluster, 'colibri_owner');
    await runOn(owner, 'REVOKE INSERT ON task_unmet, observations FROM colibri_server');
    const { status, find } = await diagnose(server);
    await runOn(owner, 'GRANT INSERT ON task_unmet, observations TO colibri_server');
    expect(status).toBe(1);
    expect(find('role')).toMatchObject({
      status: 'fail',
      message: 'colibri_server may not write observations, task_unmet',
      fix: expect.stringContaining('docs/postgres.md'),
    });
  });

  promiseTest('doctor/finds', 'an empty database in which the role may not create the ledger', async () => {
    const { status, find } = await diagnose(server.replace(/colibri$/, 'empty'));
    expect(status).toBe(1);
    expect(find('ledger')).toMatchObject({ status: 'fail', fix: expect.stringContaining('as the owner') });
  });
});

/** What a session does not touch: rows that are deleted, and words that are found again. */
async function playEdits(call: Awaited<ReturnType<typeof createCall>>): Promise<void> {
  const { data: first } = await call('task_create', { title: 'Parse it', labels: ['old'] });
  const { data: second } = await call('task_create', { title: 'Print it', depends_on: [first['task_id']] });
  const edits = [
    { task_id: first['task_id'], labels: ['new'], title: 'Parse it twice' },
    { task_id: second['task_id'], depends_on: [] },
  ];
  for (const edit of edits) expect(await call('task_update', edit)).toMatchObject({ ok: true });
  expect((await call('task_list', { search: 'twice', label: 'new' })).data).toMatchObject({ total_count: 1 });
}
