import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AdvisedError } from '../../errors.ts';
import { CommandError } from '../support/command-result.ts';

/** What `openssl ts` says about RFC 3161: Colibri itself neither parses ASN.1 nor verifies certificates. */

export class OpensslFailed extends AdvisedError {}
export class OpensslMissing extends AdvisedError {}

export interface TimeStamp {
  /** Lower-case hexadecimal. */
  readonly digest: string;
  readonly time: Date;
}

const TIMEOUT_MS = 10_000;
const MAX_OUTPUT = 100_000;

/** The DER of a request for a time stamp over a SHA-256 digest, with the certificates that checking it needs. */
export function createQuery(digest: string): Promise<Buffer> {
  return openssl(['ts', '-query', '-digest', digest, '-sha256', '-cert']);
}

/**
 * The token of a reply: what the authority has signed. The status text around it is not signed, and may say anything.
 */
export function extractToken(response: Uint8Array): Promise<Buffer> {
  return withFile(response, (file) => openssl(['ts', '-reply', '-in', file, '-token_out']));
}

/** Reads a token. It is not verified. */
export async function readToken(token: Uint8Array): Promise<TimeStamp> {
  const output = await withFile(token, (file) => openssl(['ts', '-reply', '-in', file, '-token_in', '-text']));
  const [, signed = '', ...rest] = output.toString('utf8').split(/^TST info:$/m);
  const dumps = [...signed.matchAll(/^Message data:\n((?: +[0-9a-f]{4} - .*\n)+)/gm)];
  const times = [...signed.matchAll(/^Time stamp: (.+)$/gm)];
  const digest = (dumps[0]?.[1] ?? '').split('\n').map(bytesOfDump).join('');
  const time = new Date(times[0]?.[1] ?? '');
  const isOne = rest.length === 0 && dumps.length === 1 && times.length === 1;
  if (!isOne || digest.length !== 64 || Number.isNaN(time.getTime()))
    throw new OpensslFailed('the reply is not a granted time stamp over a SHA-256 digest');
  return { digest, time };
}

/** Of a line such as `    0010 - 32 7c c9 13 8b b8 24 82-58 78 70 47 33 9a 11 98   2|....$.XxpG3...`. */
function bytesOfDump(line: string): string {
  return line
    .slice(line.indexOf('-') + 1)
    .slice(0, 50)
    .replaceAll(/[^0-9a-f]/g, '');
}

/** Throws with the reason of openssl if the token is not a time stamp of this digest by a certificate of the CA. */
export async function verifyToken(token: Uint8Array, digest: string, caFile: string): Promise<void> {
  await withFile(token, (file) =>
    openssl(['ts', '-verify', '-digest', digest, '-in', file, '-token_in', '-CAfile', resolve(caFile)]),
  );
}

/** Throws if the file cannot hold what a time stamp is verified with: then it says nothing about the time stamp. */
export function assertCertificates(caFile: string): void {
  let text = '';
  try {
    text = readFileSync(caFile, 'latin1');
  } catch (error) {
    throw new CommandError('bad input', `${caFile} cannot be read`, { cause: error });
  }
  if (!/^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/m.test(text))
    throw new CommandError('bad input', `${caFile} has no certificate`, { advice: 'pass certificates as PEM' });
}

async function withFile<Result>(bytes: Uint8Array, work: (file: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-time-stamp-'));
  try {
    const file = join(folder, 'time-stamp.der');
    writeFileSync(file, bytes, { mode: 0o600 });
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Not in the current folder: on Windows a program of that name in a repository would run. */
function openssl(args: readonly string[]): Promise<Buffer> {
  return new Promise((done, fail) => {
    const child = spawn('openssl', args, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] });
    // Not the option of spawn: its timer would keep the process alive if there is no such program.
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    const output: Buffer[] = [];
    let problem = '';
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => (problem = (problem + chunk.toString()).slice(0, MAX_OUTPUT)));
    child.on('error', (error) => {
      clearTimeout(timer);
      fail(new OpensslMissing('openssl cannot be started', { advice: 'install OpenSSL', cause: error }));
    });
    child.on('close', (status) => {
      clearTimeout(timer);
      if (status === 0) done(Buffer.concat(output));
      else fail(new OpensslFailed(`openssl ${args[1]} failed: ${reasonIn(problem)}`));
    });
  });
}

/** The last line of its error stack: `40E7…:error:17800064:time stamp routines:…:reason:file.c:1:detail`. */
function reasonIn(text: string): string {
  const lines = text.split('\n').filter((line) => line.includes(':error:'));
  const [, , , library, , reason, , , detail] = (lines.at(-1) ?? '').split(':');
  return [library, reason, detail].filter((part) => part !== undefined && part !== '').join(': ') || 'no reason given';
}
