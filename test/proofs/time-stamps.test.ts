import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished } from 'vitest';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { SigningProject } from './support.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** A time stamping authority of `openssl ts` with a certificate of its own, behind HTTP. */
class TestAuthority {
  answer: ((response: ServerResponse, reply: Buffer) => void) | undefined;
  readonly folder = tempFolder();
  readonly ca = join(this.folder, 'ca.pem');
  #url = '';

  static async start(): Promise<TestAuthority> {
    const authority = new TestAuthority();
    const server = createServer((request, response) => void authority.#handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    authority.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsr`;
    return authority;
  }

  constructor() {
    writeFileSync(join(this.folder, 'tsa.cnf'), CONFIG);
    writeFileSync(join(this.folder, 'serial'), '01\n');
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-config', 'tsa.cnf'];
    this.#openssl('req', '-x509', ...key, '-extensions', 'ca', '-keyout', 'ca-key.pem', '-out', 'ca.pem');
    this.#openssl('req', ...key, '-keyout', 'key.pem', '-out', 'tsa.csr', '-subj', '/CN=TSA');
    const signed = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca-key.pem',
      '-set_serial',
      '2',
      '-extfile',
      'tsa.cnf',
      '-extensions',
      'tsa_cert',
    ];
    this.#openssl('x509', '-req', '-in', 'tsa.csr', '-out', 'tsa.pem', ...signed);
  }

  get url(): string {
    return this.#url;
  }

  reply(query: Buffer): Buffer {
    writeFileSync(join(this.folder, 'query.tsq'), query);
    this.#openssl('ts', '-reply', '-queryfile', 'query.tsq', '-out', 'reply.tsr', '-config', 'tsa.cnf');
    return readFileSync(join(this.folder, 'reply.tsr'));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = this.reply(await buffer(request));
    if (this.answer !== undefined) return this.answer(response, reply);
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(reply);
  }

  #openssl(...args: readonly string[]): void {
    const { status, stderr } = spawnSync('openssl', args, { cwd: this.folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }
}

const CONFIG = `
[req]
distinguished_name = name
prompt = no
[name]
CN = CA
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
[tsa_cert]
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = authority
[authority]
serial = ./serial
signer_cert = ./tsa.pem
certs = ./ca.pem
signer_key = ./key.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
`;

/** Printed by openssl before the time that was signed. */
const BACKDATED = 'ok\nTime stamp: Jan  1 00:00:00 2020 GMT\nTST info:\nTime stamp: Jan  1 00:00:00 2020 GMT';

/** The reply (RFC 3161: SEQUENCE { status, token }) with the same token behind another status. */
function withStatusText(reply: Buffer, text: string): Buffer {
  const token = contentOf(reply).subarray(lengthOf(contentOf(reply)));
  const status = der(0x30, der(0x02, Buffer.of(0)), der(0x30, der(0x0c, Buffer.from(text))));
  return der(0x30, status, token);
}

function headerOf(value: Buffer): number {
  const first = value[1] ?? 0;
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}

function lengthOf(value: Buffer): number {
  const header = headerOf(value);
  return header + (header === 2 ? (value[1] ?? 0) : value.readUIntBE(2, header - 2));
}

function contentOf(value: Buffer): Buffer {
  return value.subarray(headerOf(value), lengthOf(value));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

async function createProject() {
  const project = new SigningProject();
  await project.colibri('add', 'one');
  return { project, key: (await project.colibri('key')).stdout.trim() };
}

async function judge(project: SigningProject, file: string, ...args: string[]) {
  const { status, stdout } = await project.colibri('verify', file, '--json', ...args);
  const { claims = [] } = JSON.parse(stdout) as { claims?: { about: string; holds: string; says: string }[] };
  return { status, stamps: claims.filter(({ about }) => about === 'stamp') };
}

describe('a time stamp', () => {
  promiseTest('stamp/openssl', 'without openssl the command says what is missing', async () => {
    const { project } = await createProject();
    const env = { ...project.env, PATH: project.mkdir('empty') };
    for (const args of [
      ['--timestamp', 'https://tsa.example'],
      ['--timestamp-query', project.path('q')],
    ])
      expect(await project.runWith({ env }, 'checkpoint', ...args)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('openssl cannot be started; install OpenSSL') as string,
      });
  });

  promiseTest('stamp/holds', 'goes with the checkpoint into bundles and proofs, also later', async () => {
    if (!hasOpenssl) return;
    const { project, key } = await createProject();
    const authority = await TestAuthority.start();
    const stamped = await project.colibri('checkpoint', '--timestamp', authority.url, '--tsa-ca', authority.ca);
    expect(stamped).toMatchObject({ status: 0, stderr: '' });
    const file = project.path('stamped');
    writeFileSync(file, stamped.stdout);
    await project.colibri('add', 'after it');
    const [bundle, proof] = [project.path('bundle'), project.path('proof')];
    await project.colibri('export', '--all', '--at', file, '--out', bundle);
    await project.colibri('prove', '2', '--at', file, '--out', proof);
    for (const each of [bundle, proof]) {
      const checked = await judge(project, each, '--key', key, '--tsa-ca', authority.ca);
      expect(checked).toMatchObject({ status: 0, stamps: [{ holds: 'yes' }] });
      expect(checked.stamps[0]?.says).toContain('time stamped at 20');
      expect(await judge(project, each, '--key', key)).toMatchObject({ status: 0, stamps: [{ holds: 'unknown' }] });
    }
    const env = { ...project.env, PATH: project.mkdir('empty') };
    const unchecked = await project.runWith({ env }, 'verify', bundle, '--key', key, '--tsa-ca', authority.ca);
    expect(unchecked).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('was not checked: openssl') as string,
    });
    // A new checkpoint has none.
    await project.colibri('export', '--all', '--out', project.path('later'));
    const later = await judge(project, project.path('later'), '--key', key, '--tsa-ca', authority.ca);
    expect(later).toMatchObject({ status: 1, stamps: [{ holds: 'no' }] });
  });

  promiseTest('stamp/refused', 'of another digest, by another authority, or moved to another checkpoint', async () => {
    if (!hasOpenssl) return;
    const { project, key } = await createProject();
    const [authority, other] = [await TestAuthority.start(), await TestAuthority.start()];
    const stamp = (...args: string[]) => project.colibri('checkpoint', '--timestamp', ...args);
    authority.answer = (response) => void response.writeHead(500).end();
    expect(await stamp(authority.url)).toMatchObject({ status: 2 });
    authority.answer = (response) => void response.writeHead(200).end('<html>');
    expect(await stamp(authority.url)).toMatchObject({ status: 2 });
    authority.answer = (response) => void response.writeHead(200).end('x'.repeat(50_000));
    expect(await stamp(authority.url)).toMatchObject({ status: 2 });
    authority.answer = undefined;
    expect(await stamp(authority.url, '--tsa-ca', other.ca)).toMatchObject({ status: 2 });
    for (const url of ['ftp://tsa.example', 'tsa.example', 'http://user:secret@tsa.example'])
      expect((await stamp(url)).status, url).toBe(3);
    expect(await project.checkpoint()).not.toContain('rfc3161');

    const query = project.path('query.tsq');
    expect(await project.colibri('checkpoint', '--timestamp-query', query)).toMatchObject({ status: 0 });
    expect(await project.colibri('checkpoint', '--timestamp-query', query)).toMatchObject({ status: 3 });
    const foreign = spawnSync('openssl', ['ts', '-query', '-digest', 'ab'.repeat(32), '-sha256', '-cert']).stdout;
    const add = (bytes: Buffer | string) => {
      writeFileSync(project.path('reply.tsr'), bytes);
      return project.colibri('checkpoint', '--timestamp-add', project.path('reply.tsr'));
    };
    expect(await add(authority.reply(foreign))).toMatchObject({ status: 1 });
    expect(await add('no reply')).toMatchObject({ status: 2 });
    // The log grows while the authority works.
    await project.colibri('add', 'two');
    const added = await add(authority.reply(readFileSync(query)));
    expect(added).toMatchObject({ status: 0, stdout: expect.stringContaining('\n5\n') as string });

    // The line of one checkpoint below another one.
    const line = added.stdout.split('\n').find((each) => each.includes('rfc3161')) ?? '';
    writeFileSync(project.path('moved'), `${await project.checkpoint()}${line}\n`);
    await project.colibri('export', '--all', '--at', project.path('moved'), '--out', project.path('bundle'));
    const moved = await judge(project, project.path('bundle'), '--key', key, '--tsa-ca', authority.ca);
    expect(moved).toMatchObject({ status: 1, stamps: [{ holds: 'no' }] });
    expect(moved.stamps[0]?.says).toContain('message imprint mismatch');
    writeFileSync(project.path('stamped'), added.stdout);
    await project.colibri('export', '--all', '--at', project.path('stamped'), '--out', project.path('good'));
    const wrong = await judge(project, project.path('good'), '--key', key, '--tsa-ca', other.ca);
    expect(wrong).toMatchObject({ status: 1, stamps: [{ holds: 'no' }] });
    // A file without certificates says nothing about the time stamp.
    for (const ca of [project.path('none.pem'), query]) {
      expect(await judge(project, project.path('good'), '--key', key, '--tsa-ca', ca)).toEqual({
        status: 3,
        stamps: [],
      });
      expect(await stamp(authority.url, '--tsa-ca', ca)).toMatchObject({ status: 3 });
    }
  });

  promiseTest('stamp/refused', 'a time in the text around the token, which no authority has signed', async () => {
    if (!hasOpenssl) return;
    const { project, key } = await createProject();
    const authority = await TestAuthority.start();
    authority.answer = (response, reply) => void response.writeHead(200).end(withStatusText(reply, BACKDATED));
    const stamped = await project.colibri('checkpoint', '--timestamp', authority.url, '--json');
    expect(JSON.parse(stamped.stdout)).toMatchObject({ time: expect.not.stringContaining('2020') as string });
    const { checkpoint } = JSON.parse(stamped.stdout) as { checkpoint: string };
    writeFileSync(project.path('stamped'), checkpoint);
    await project.colibri('export', '--all', '--at', project.path('stamped'), '--out', project.path('bundle'));
    const { status, stamps } = await judge(project, project.path('bundle'), '--key', key, '--tsa-ca', authority.ca);
    expect({ status, holds: stamps.map(({ holds }) => holds) }).toEqual({ status: 0, holds: ['yes'] });
    expect(stamps[0]?.says).not.toContain('2020');
  });
});
