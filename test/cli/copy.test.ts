import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_ENTRY, BY_KEY, HEAD } from '../../src/copy/tables.ts';
import { SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { expectedFacts } from '../../src/db/postgres/schema-check.ts';
import { addTask, CliProject } from '../support/cli-project.ts';
import {
  type LedgerTarget,
  openTarget,
  postgresTarget,
  readEverything,
  sqliteTarget,
  TARGETS,
  verifyTarget,
} from '../support/ledger-targets.ts';
import { call } from '../support/memory-server.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { BEFORE_SESSION_EVENTS, buildFullLedger, makeOlder } from '../support/sample-ledgers.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-copy-'));
const fullLedger = join(folder, 'full-ledger.db');

beforeAll(() => buildFullLedger(fullLedger));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the real command and checks every statement in its output about the target. */
async function copy(
  place: CliProject,
  source: LedgerTarget,
  target: LedgerTarget,
): Promise<{ size: number; root: string; added: number }> {
  const { status, stdout, stderr } = await place.runWith({ env: source.env }, 'copy', '--to', target.to, '--json');
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
  const answer = JSON.parse(stdout) as { verdict: string; size: number; root: string; added: number };
  expect(answer.verdict).toBe('copied');
  expect(await verifyTarget(target)).toEqual({ size: answer.size, root: answer.root, problems: [] });
  return answer;
}

async function work(place: CliProject, spot: LedgerTarget, ...titles: readonly string[]): Promise<void> {
  const agent = await place.openAgent('alice', spot.env);
  for (const title of titles) await addTask(agent, title);
  await agent.close();
}

describe('copy', () => {
  it('copies every table that the migrations create', () => {
    const tables = expectedFacts(SCHEMA_VERSION).filter(({ kind, name }) => kind === 'table' && name !== 'colibri');
    const made = tables.map(({ name }) => name);
    const elsewhere = [HEAD.table, 'ledger_nodes', 'task_search', 'task_versions'];
    const known = [...Object.keys(BY_ENTRY), ...Object.keys(BY_KEY), ...elsewhere];
    expect(known.toSorted()).toEqual(made.toSorted());
  });

  promiseTest(
    'copy/exact',
    'from SQLite to PostgreSQL, on to a second one, back to a file and to a second file',
    async () => {
      const place = new CliProject();
      const spots = [
        sqliteTarget(fullLedger),
        await postgresTarget(),
        await postgresTarget(),
        sqliteTarget(),
        sqliteTarget(),
      ];
      const original = await readEverything(sqliteTarget(fullLedger));
      expect(Object.entries(original).filter(([, rows]) => rows.length === 0)).toEqual([]);
      const { size, root } = await verifyTarget(sqliteTarget(fullLedger));
      for (const [index, target] of spots.slice(1).entries()) {
        expect(await copy(place, spots[index] as LedgerTarget, target)).toMatchObject({ size, root, added: size });
        expect(await readEverything(target)).toEqual(original);
      }
    },
  );

  for (const [name, open] of [
    ['PostgreSQL', postgresTarget],
    ['SQLite', async () => sqliteTarget()],
  ] as const)
    promiseTest('copy/usable', `a server continues on the copy on ${name}, which can be copied back`, async () => {
      const place = new CliProject();
      const [source, target] = [sqliteTarget(), await open()];
      await work(place, source, 'first', 'second');
      await copy(place, source, target);
      const agent = await place.openAgent('bob', target.env);
      const fractions = [0.1 + 0.2, 1 / 3, 1e-7, 999.999_999_999_9];
      for (const [index, estimate_hours] of fractions.entries())
        expect(await call(agent, 'task_create', { title: `part ${index}`, estimate_hours })).toMatchObject({
          ok: true,
        });
      expect((await call(agent, 'task_list', { search: 'second' })).data).toMatchObject({
        tasks: [{ task_id: 'T-0002' }],
      });
      await agent.close();
      const { added } = await copy(place, target, source);
      expect(added).toBeGreaterThan(0);
      expect(await readEverything(source)).toEqual(await readEverything(target));
      const hours = (await readEverything(source))['tasks']?.map(
        (row) => (row as { estimate_hours: number }).estimate_hours,
      );
      expect(hours).toEqual(expect.arrayContaining(fractions));
    });

  for (const [engine, other] of [
    ['sqlite', 'postgres'],
    ['postgres', 'sqlite'],
  ] as const)
    promiseTest('copy/older', `from ${engine} to ${other}, where the copy of an older version is updated`, async () => {
      const place = new CliProject();
      const [source, target] = [await TARGETS[engine](), await TARGETS[other]()];
      await work(place, source, 'first', 'second');
      const { size, root } = await verifyTarget(source);
      await makeOlder(await openTarget(source));
      const before = await readEverything(source);
      expect(await copy(place, source, target)).toMatchObject({ size, root, migrated_from: BEFORE_SESSION_EVENTS });
      expect(await readEverything(source)).toEqual(before);
      await makeOlder(await openTarget(target));
      await work(place, source, 'third');
      const { added } = await copy(place, source, target);
      expect(added).toBeGreaterThan(0);
      expect(await readEverything(target)).toEqual(await readEverything(source));
    });

  promiseTest('copy/again', 'a second run adds new entries and touches no other row', async () => {
    const place = new CliProject();
    const [source, target] = [sqliteTarget(join(place.mkdir('again'), 'source.db')), await postgresTarget()];
    await buildFullLedger(source.to);
    const first = await copy(place, source, target);
    expect(await copy(place, source, target)).toEqual({ ...first, added: 0 });
    const before = await listVersions(target);
    const agent = await place.openAgent('bob', source.env);
    await call(agent, 'task_update', {
      task_id: 'T-0002',
      title: 'Its better tests',
      labels: [],
      depends_on: ['T-0005'],
    });
    await call(agent, 'merkle_finalize', { session_id: 'A-0004' });
    await call(agent, 'audit_session_start', { task_id: 'T-0001', auditor_id: 'third auditor' });
    await agent.close();
    const second = await copy(place, source, target);
    expect(second.size).toBe(first.size + second.added);
    expect(await readEverything(target)).toEqual(await readEverything(source));
    const after = await listVersions(target);
    const touched = before.filter((row) => !after.includes(row)).map((row) => row.split(' ')[0] ?? '');
    expect(touched.toSorted()).toEqual([
      'counters',
      'ledger_head',
      'presence',
      'sessions',
      'task_labels',
      'task_search',
      'tasks',
    ]);
  });

  promiseTest('copy/exact', 'with a progress bar on a terminal', async () => {
    const place = new CliProject();
    const watched = 'data:text/javascript,process.stderr.isTTY=true';
    const env = { COLIBRI_DB_PATH: fullLedger };
    const run = place.runWith({ env, program: '--import' }, watched, PROGRAM, 'copy', '--to', 'second.db');
    const { status, stdout, stderr } = await run;
    const { size, root } = await verifyTarget(sqliteTarget(place.path('second.db')));
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `copied ${fullLedger} to ${place.path('second.db')}: ${size} entries added\nwhole: ${size} entries, root ${root}\n`,
    });
    expect([...stderr.matchAll(/\r([a-z ]+) █+ 100%/g)].map(([, label]) => label)).toEqual([
      'verifying the source',
      'copying',
      'verifying the copy',
    ]);
  });
});

/** The transaction that wrote each row (xmin). */
async function listVersions(spot: LedgerTarget): Promise<string[]> {
  const tables = [...Object.keys(BY_ENTRY), ...Object.keys(BY_KEY), 'ledger_nodes', 'task_search', HEAD.table];
  const database = await openTarget(spot);
  return database.read(async (reader) => {
    const versions: string[] = [];
    for (const table of tables) {
      const rows = await reader.query<{ version: string }>(`SELECT CONCAT(xmin, ' ', ctid) AS version FROM ${table}`);
      versions.push(...rows.map(({ version }) => `${table} ${version}`));
    }
    return versions;
  });
}
