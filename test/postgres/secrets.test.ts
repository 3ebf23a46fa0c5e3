import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { connectRaw, type RawClient } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { runOn } from '../support/postgres/database.ts';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

const PLAIN = 'correct-horse';
/** Everything that means something in a URL, in SQL or in a pattern. */
const SPECIAL = 'a@b/c:d?e#f%g&h+i$1\'"\\é [x]';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.create();
  const sql = (password: string) => `'${password.replaceAll("'", "''")}'`;
  await runOn(
    cluster.url(),
    `CREATE ROLE plain LOGIN SUPERUSER PASSWORD ${sql(PLAIN)}; CREATE ROLE special LOGIN SUPERUSER PASSWORD ${sql(SPECIAL)}`,
  );
  cluster.place(
    'pg_hba.conf',
    ['host all colibri 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256', ''].join('\n'),
  );
  await cluster.kill('SIGINT');
  await cluster.restart();
});
afterAll(() => cluster.stop());

interface ConnectionCase {
  readonly what: string;
  readonly secret: string;
  readonly url: () => string;
  readonly env?: () => Record<string, string>;
}

const at = () => `127.0.0.1:${cluster.port}/postgres`;
const encoded = encodeURIComponent(SPECIAL);

const ENCODED: ConnectionCase = {
  what: 'an encoded password',
  secret: SPECIAL,
  url: () => `postgres://special:${encoded}@${at()}`,
};

const CONNECTIONS: readonly ConnectionCase[] = [
  { what: 'a plain password', secret: PLAIN, url: () => `postgres://plain:${PLAIN}@${at()}` },
  ENCODED,
  { what: 'a parameter', secret: PLAIN, url: () => `postgres://plain@${at()}?password=${PLAIN}` },
  { what: 'an encoded parameter', secret: SPECIAL, url: () => `postgres://special@${at()}?password=${encoded}` },
  {
    what: 'PGPASSWORD',
    secret: SPECIAL,
    url: () => `postgres://special@${at()}`,
    env: () => ({ PGPASSWORD: SPECIAL }),
  },
  { what: 'a password file', secret: PLAIN, url: () => `postgres://plain@${at()}`, env: passwordFile },
];

function passwordFile(): Record<string, string> {
  const path = join(tempFolder(), 'pgpass');
  writeFileSync(path, `127.0.0.1:${cluster.port}:*:plain:${PLAIN}\n`, { mode: 0o600 });
  return { PGPASSFILE: path };
}

/** What can go wrong with a URL that has a password in it, and what the program says then. */
const MISHAPS: [string, (url: string) => string, RegExp][] = [
  ['a wrong user', (url) => url.replace('//', '//no'), /the server refused the user or the password/],
  ['a closed port', (url) => url.replace(/:\d+\/postgres/, ':1/postgres'), /the database cannot be reached/],
  ['a host that is not there', (url) => url.replace('127.0.0.1', 'host.invalid'), /the database cannot be reached/],
  ['a database that is not there', (url) => url.replace('/postgres', '/nowhere'), /the database does not exist/],
  [
    'a schema that is not there',
    (url) => `${url}${url.includes('?') ? '&' : '?'}options=-c%20search_path%3Dnowhere`,
    /the schema that search_path names does not exist/,
  ],
];

function expectSilent(secret: string, ...texts: readonly string[]): void {
  const encodings = [secret, encodeURIComponent(secret), encodeURI(secret), JSON.stringify(secret).slice(1, -1)];
  const heard = texts.join('\n');
  expect(heard).not.toBe('');
  for (const encoding of encodings) expect(heard).not.toContain(encoding);
}

function heardOf({ program }: RawClient): string[] {
  return [...program.outLines(), ...program.errorLines()];
}

function environmentOf({ url, env }: ConnectionCase, change: (url: string) => string = (same) => same) {
  return { COLIBRI_DATABASE_URL: change(url()), COLIBRI_LOG_LEVEL: 'debug', ...env?.() };
}

describe('a server that asks for passwords with scram-sha-256', () => {
  for (const connection of CONNECTIONS) {
    promiseTest(
      'postgres/secrets',
      `${connection.what} opens the ledger, and again after a lost connection`,
      async () => {
        const env = environmentOf(connection);
        const client = await connectRaw({ cwd: tempFolder(), env });
        expect(await client.data('server_health')).toMatchObject({ status: 'ok' });
        await runOn(
          cluster.url(),
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'colibri'",
        );
        expect(await client.call('task_list')).toMatchObject({ ok: true });
        await client.end();
        const { status, stdout, stderr } = await runColibri(['verify'], env, tempFolder());
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        expectSilent(connection.secret, ...heardOf(client), stdout);
      },
    );
  }

  for (const [what, change, says] of MISHAPS) {
    promiseTest('postgres/secrets', `${what} is reported without the password`, async () => {
      const env = environmentOf(ENCODED, change);
      const { status, stdout, stderr } = await runColibri(['verify'], env, tempFolder());
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(says) });
      expectSilent(ENCODED.secret, stdout, stderr);
    });
  }

  promiseTest('postgres/secrets', 'a server without its ledger reports why without the password', async () => {
    for (const connection of CONNECTIONS.filter(({ url }) => url().includes(encoded))) {
      const client = await connectRaw({
        cwd: tempFolder(),
        env: environmentOf(connection, (url) => url.replace('//', '//no')),
      });
      expect(await client.data('server_health')).toMatchObject({
        status: 'degraded',
        problems: [{ message: expect.stringMatching(/the server refused the user or the password/) }],
      });
      expect(JSON.stringify(await client.call('task_list'))).toContain('ERR_INIT_FAILED');
      await client.end();
      expectSilent(connection.secret, ...heardOf(client));
    }
  });

  promiseTest('postgres/secrets', 'a wrong or missing password is reported without it', async () => {
    const cases: [string, RegExp][] = [
      [`postgres://plain:${encoded}@${at()}`, /the server refused the user or the password/],
      [`postgres://plain@${at()}?password=${encoded}`, /the server refused the user or the password/],
      [`postgres://plain@${at()}`, /the server requires a password and none was given/],
    ];
    for (const [COLIBRI_DATABASE_URL, says] of cases)
      for (const command of ['board', 'doctor']) {
        const { stdout, stderr } = await runColibri([command], { COLIBRI_DATABASE_URL }, tempFolder());
        expect(stdout + stderr).toMatch(says);
        expectSilent(SPECIAL, stdout, stderr);
      }
  });
});
