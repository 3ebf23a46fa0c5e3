import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { openTestPostgres } from '../support/postgres/database.ts';
import { diagnose } from '../support/postgres/docs.ts';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createAuthority } from './fixtures/certificates.ts';

const authority = createAuthority('the authority of a test');
const stranger = createAuthority('another authority');

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.create();
});
afterAll(() => cluster.stop());

function urlWith(parameters: Record<string, string>, server = cluster.url()): string {
  const url = new URL(server);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The path of a file with this certificate. */
function fileOf(certificate: string): string {
  const path = join(tempFolder(), 'an authority.pem');
  writeFileSync(path, certificate);
  return path;
}

async function isEncrypted(url: string): Promise<boolean> {
  const database = await openTestPostgres({ url, readOnly: true });
  const [row] = await database.read((reader) =>
    reader.query<{ ssl: number }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
  );
  return row?.ssl === 1;
}

async function refusalOf(url: string): Promise<unknown> {
  return openTestPostgres({ url, readOnly: true }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : error),
  );
}

describe('a server without TLS', () => {
  for (const sslmode of ['require', 'verify-full']) {
    promiseTest('postgres/tls', `sslmode=${sslmode} is refused`, async () => {
      expect(await refusalOf(urlWith({ sslmode }))).toMatch(/the server offers no TLS/);
    });
  }
});

describe('a server with a certificate of an authority of its own', () => {
  beforeAll(async () => {
    const { certificate, key } = authority.issue(['127.0.0.1', 'db.example.com']);
    cluster.place('server.crt', certificate);
    cluster.place('server.key', key);
    cluster.place('postgresql.auto.conf', 'ssl = on\n');
    await cluster.kill('SIGINT');
    await cluster.restart();
  });

  const ENCRYPTED: [string, () => Record<string, string>, boolean][] = [
    ['without sslmode', () => ({}), false],
    ['sslmode=disable', () => ({ sslmode: 'disable' }), false],
    ['sslmode=prefer', () => ({ sslmode: 'prefer' }), true],
    ['sslmode=require', () => ({ sslmode: 'require' }), true],
    ['require with the authority', () => ({ sslmode: 'require', sslrootcert: fileOf(authority.certificate) }), true],
    ['verify-ca', () => ({ sslmode: 'verify-ca', sslrootcert: fileOf(authority.certificate) }), true],
    ['verify-full', () => ({ sslmode: 'verify-full', sslrootcert: fileOf(authority.certificate) }), true],
  ];
  for (const [what, parameters, wanted] of ENCRYPTED) {
    promiseTest('postgres/tls', `${what}: ${wanted ? 'encrypted' : 'not encrypted'}`, async () => {
      expect(await isEncrypted(urlWith(parameters()))).toBe(wanted);
    });
  }

  const NOT_TRUSTED = /certificate of the server is not trusted \(.*\); name its authority with sslrootcert=/;
  const REFUSED: [string, () => Record<string, string>, RegExp][] = [
    ['verify-full of an unknown authority', () => ({ sslmode: 'verify-full' }), NOT_TRUSTED],
    [
      'verify-full of another authority',
      () => ({ sslmode: 'verify-full', sslrootcert: fileOf(stranger.certificate) }),
      NOT_TRUSTED,
    ],
    [
      'verify-ca of another authority',
      () => ({ sslmode: 'verify-ca', sslrootcert: fileOf(stranger.certificate) }),
      NOT_TRUSTED,
    ],
    [
      'require of another authority',
      () => ({ sslmode: 'require', sslrootcert: fileOf(stranger.certificate) }),
      NOT_TRUSTED,
    ],
    ['verify-ca without an authority', () => ({ sslmode: 'verify-ca' }), /add sslrootcert=\/path\/to\/ca\.pem/],
    [
      'an authority that is not there',
      () => ({ sslmode: 'verify-full', sslrootcert: '/nowhere/ca.pem' }),
      /a file that the URL names cannot be read \(.*\/nowhere\/ca\.pem.*\); check its path/,
    ],
  ];
  for (const [what, parameters, says] of REFUSED) {
    promiseTest('postgres/tls', `${what} is refused`, async () => {
      expect(await refusalOf(urlWith(parameters()))).toMatch(says);
    });
  }

  promiseTest('postgres/tls', 'only verify-full refuses a certificate of another host', async () => {
    const server = cluster.url().replace('127.0.0.1', 'localhost');
    const sslrootcert = fileOf(authority.certificate);
    expect(await isEncrypted(urlWith({ sslmode: 'verify-ca', sslrootcert }, server))).toBe(true);
    expect(await refusalOf(urlWith({ sslmode: 'verify-full', sslrootcert }, server))).toMatch(/is for another host/);
  });

  promiseTest('postgres/tls', 'the built program connects without a driver warning', async () => {
    for (const parameters of [
      { sslmode: 'require' },
      { sslmode: 'verify-full', sslrootcert: fileOf(authority.certificate) },
    ]) {
      const env = { COLIBRI_DATABASE_URL: urlWith(parameters) };
      const client = await connectRaw({ cwd: tempFolder(), env });
      expect(await client.data('server_health')).toMatchObject({ status: 'ok', db: { engine: 'postgres' } });
      await client.end();
      for (const line of client.program.errorLines()) expect(JSON.parse(line)).toHaveProperty('event');
      expect(await runColibri(['verify'], env, tempFolder())).toMatchObject({ status: 0, stderr: '' });
    }
  });

  for (const sslmode of [undefined, 'verify-full'])
    promiseTest(
      'postgres/tls',
      `sslrootcert=system with ${sslmode ?? 'no'} sslmode: the authorities that Node knows`,
      async () => {
        const parameters = { ...(sslmode === undefined ? {} : { sslmode }), sslrootcert: 'system' };
        const variables = { COLIBRI_DATABASE_URL: urlWith(parameters) };
        const env = { ...variables, NODE_EXTRA_CA_CERTS: fileOf(authority.certificate) };
        const { find } = await diagnose(env.COLIBRI_DATABASE_URL, env);
        expect(find('encryption')).toEqual({ check: 'encryption', status: 'ok', message: 'TLS' });
        const elsewhere = env.COLIBRI_DATABASE_URL.replace('127.0.0.1', 'localhost');
        expect(
          (await diagnose(elsewhere, { NODE_EXTRA_CA_CERTS: env.NODE_EXTRA_CA_CERTS })).find('ledger'),
        ).toMatchObject({
          message: expect.stringContaining('is for another host'),
        });
        expect((await diagnose(env.COLIBRI_DATABASE_URL)).find('ledger')).toMatchObject({
          message: expect.stringContaining('is not trusted'),
        });
      },
    );

  promiseTest('doctor/healthy', 'an encrypted connection', async () => {
    const { find } = await diagnose(urlWith({ sslmode: 'require' }));
    expect(find('encryption')).toEqual({ check: 'encryption', status: 'ok', message: 'TLS' });
  });

  promiseTest('postgres/tls', 'the built program stays up and reports why it is not connected', async () => {
    const env = { COLIBRI_DATABASE_URL: urlWith({ sslmode: 'verify-full' }) };
    const client = await connectRaw({ cwd: tempFolder(), env });
    const { problems } = await client.data('server_health');
    expect(problems).toMatchObject([{ code: 'ERR_INIT_FAILED', message: expect.stringMatching(NOT_TRUSTED) }]);
    await client.end();
  });
});
