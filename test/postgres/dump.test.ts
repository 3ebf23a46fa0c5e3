import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openCurrent } from '../clients/official-clients.ts';
import { createCall, playSession } from '../clients/whole-session.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { runOn } from '../support/postgres/database.ts';
import { blocksOf } from '../support/postgres/docs.ts';
import { cleanEnvironment, PROGRAM, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { runPgDump } from './fixtures/pg-dump.ts';

/** The server has the version of pg_dump, whose output is for servers that are not older. */
let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.create();
});
afterAll(() => cluster.stop());

async function newDatabase(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOn(cluster.url(), `CREATE DATABASE ${name}`);
  return cluster.url(name);
}

/** What the page tells people to say to pg_dump, without the file and the place, which are the test's own. */
function flagsOfThePage(): string[] {
  const [line = ''] = blocksOf('Backup and restore', 'sh');
  expect(line).toMatch(/^pg_dump .* --file=ledger\.sql "\$COLIBRI_DATABASE_URL"\n$/);
  return line
    .trim()
    .split(' ')
    .filter((word) => /^--(?!file)/.test(word));
}

async function verify(url: string): Promise<Record<string, unknown>> {
  const { status, stdout, stderr } = await runColibri(
    ['verify', '--json'],
    { COLIBRI_DATABASE_URL: url },
    tempFolder(),
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs a script like psql --single-transaction. */
async function restore(dump: string): Promise<string> {
  const url = await newDatabase();
  await runOn(url, `BEGIN;\n${dump}\nCOMMIT;`);
  return url;
}

const STRANGE = [
  "it's",
  '"quoted" \\ and \\n',
  'two\nlines\tand a tab',
  '$1 $$ -- ;',
  'äöü 漢字 🐦',
  "\\'; DROP TABLE tasks",
];

describe('pg_dump and its restore', () => {
  promiseTest('postgres/dump', 'the restored ledger verifies, has the same root, and accepts new calls', async () => {
    const url = await newDatabase();
    const env = { COLIBRI_DATABASE_URL: url };
    const client = await openCurrent({ command: process.execPath, args: [PROGRAM], cwd: tempFolder(), env });
    const call = await createCall(client);
    await playSession(call);
    for (const description of STRANGE)
      expect(await call('task_create', { title: 'strange', description, labels: ['x'] })).toMatchObject({ ok: true });
    await client.close();
    const dump = await runPgDump(url, flagsOfThePage());
    expect(dump).toContain('Dumped by pg_dump version 18');
    const restored = await restore(dump);
    const before = await verify(url);
    expect(before).toMatchObject({ verdict: 'whole', problems: [] });
    expect(await verify(restored)).toEqual(before);
    const next = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: restored } });
    expect(await next.call('task_list', { search: 'lines and' })).toMatchObject({ data: { total_count: 1 } });
    expect(await next.call('task_create', { title: 'after' })).toMatchObject({ ok: true });
    await next.end();
    expect((await verify(restored))['size']).toBe(Number(before['size']) + 5);
  });

  promiseTest('postgres/dump', 'a dump of one schema, taken while servers write, verifies', async () => {
    const database = await newDatabase();
    await runOn(database, 'CREATE SCHEMA colibri; CREATE TABLE public.invoices (id INTEGER)');
    const url = inSchema(database);
    const writer = await connectRaw({ cwd: tempFolder(), env: { COLIBRI_DATABASE_URL: url } });
    const create = (title: string) => writer.call('task_create', { title });
    expect(await create('first')).toMatchObject({ ok: true });
    const calls = Array.from({ length: 60 }, (_, index) => create(`task ${index}`));
    const dump = await runPgDump(url, [...flagsOfThePage(), '--schema=colibri']);
    await Promise.all(calls);
    await writer.end();
    expect(dump).not.toContain('invoices');
    const [before, after] = [await verify(inSchema(await restore(dump))), await verify(url)];
    expect(before['verdict']).toBe('whole');
    expect(Number(before['size'])).toBeLessThanOrEqual(Number(after['size']));
  });
});

function inSchema(url: string): string {
  return `${url}?options=-c%20search_path%3Dcolibri`;
}

describe('the commands for files', () => {
  const URL_WITH_PASSWORD = 'postgres://alice:hidden@db.example.com/colibri';
  const env = { COLIBRI_DATABASE_URL: URL_WITH_PASSWORD };
  for (const [args, commands] of [
    [
      ['backup'],
      [/^ {2}pg_dump .* --file=ledger\.sql "\$COLIBRI_DATABASE_URL"$/m, /^ {2}colibri copy --to ledger\.db$/m],
    ],
    [
      ['restore', 'ledger.sql'],
      [/^ {2}psql .* --file=ledger\.sql "\$COLIBRI_DATABASE_URL"$/m, /colibri copy --to/],
    ],
  ] as const) {
    promiseTest('postgres/dump', `colibri ${args[0]} refuses with the commands to use`, async () => {
      const { status, stdout, stderr } = await runColibri(args, env, tempFolder());
      expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
      expect(stderr).toContain('postgres://alice@db.example.com/colibri');
      for (const command of commands) expect(stderr).toMatch(command);
      const inJson = await runColibri([...args, '--json'], env, tempFolder());
      expect({ ...inJson, stdout: JSON.parse(inJson.stdout) }).toMatchObject({
        status: 3,
        stderr: '',
        stdout: { verdict: 'bad input', commands: [expect.any(String), expect.any(String)] },
      });
      expect(stderr + inJson.stdout).not.toContain('hidden');
    });
  }

  promiseTest('postgres/dump', 'copying to a file and back, as they advise, gives the same ledger', async () => {
    const [here, there] = [await newDatabase(), await newDatabase()];
    const folder = tempFolder();
    const serve = await runColibri(['serve'], { COLIBRI_DATABASE_URL: here }, folder);
    expect(serve.status).toBe(0);
    for (const [url, args] of [
      [here, ['backup']],
      [there, ['restore', 'ledger.db']],
    ] as const) {
      const { stdout } = await runColibri([...args, '--json'], { COLIBRI_DATABASE_URL: url }, folder);
      const { commands } = JSON.parse(stdout) as { commands: [string, string] };
      const command = commands[1].replace(/\bcolibri (?=copy)/, `"${process.execPath}" "${PROGRAM}" `);
      execFileSync('sh', ['-c', command], { cwd: folder, env: { ...cleanEnvironment(), COLIBRI_DATABASE_URL: url } });
    }
    expect(await verify(there)).toEqual(await verify(here));
  });

  promiseTest('postgres/dump', 'the advice names the commands of docs/postgres.md', async () => {
    const [dump = '', restored = ''] = blocksOf('Backup and restore', 'sh');
    expect((await runColibri(['backup'], env, tempFolder())).stderr).toContain(dump.trim());
    const psql = /^psql .* --file=ledger\.sql/m.exec(restored)?.[0] ?? 'nothing';
    expect((await runColibri(['restore', 'x'], env, tempFolder())).stderr).toContain(psql);
  });
});
