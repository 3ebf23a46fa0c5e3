import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { toError } from '../../errors.ts';
import { parseCheckpoint } from '../../integrity/index.ts';
import { post, urlDefect } from '../../witnesses/http.ts';
import { findRequested, rememberRequest, storeTimeStamp } from '../../witnesses/time-stamps.ts';
import type { Person } from '../people/open-person.ts';
import { assertFree } from '../support/atomic-file.ts';
import { CommandError, type CommandResult } from '../support/command-result.ts';
import { readLimited } from '../support/limited-file.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';
import { signAttested } from './attest.ts';
import { assertCertificates, createQuery, extractToken, readToken, verifyToken } from './openssl.ts';

const TIMEOUT_MS = 20_000;
/** With all certificates of a chain. It must fit into a file of the configuration folder. */
const MAX_BYTES = 40_000;

/** Signs the log and has a time stamping authority stamp the checkpoint. */
export async function requestTimeStamp(person: Person, url: string, ca: string | undefined): Promise<CommandResult> {
  const defect = isUrl(url);
  if (defect !== undefined) throw new CommandError('bad input', `${url} ${defect}`);
  if (ca !== undefined) assertCertificates(ca);
  const { ledgerId, checkpoint } = await signAttested(person);
  const query = await createQuery(rememberRequest(ledgerId, checkpoint));
  const { status, body } = await send(url, query);
  if (status !== 200) throw new CommandError('cannot tell', `${url} answered with HTTP status ${status}`);
  return store(ledgerId, body, ca);
}

async function send(url: string, query: Buffer) {
  const type = 'application/timestamp-query';
  try {
    return await post(url, { body: query, type, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    throw new CommandError('cannot tell', `${url} ${toError(error).message}`, { cause: error });
  }
}

/** Many authorities are reached by http alone: their answers are signed, and the digest is not a secret. */
function isUrl(url: string): string | undefined {
  return urlDefect(url.replace(/^http:/, 'https:'));
}

/** Signs the log and writes the request, for an authority that is not reached by a plain POST. */
export async function writeQuery(person: Person, out: string): Promise<CommandResult> {
  const file = resolve(out);
  assertFree(file);
  const { ledgerId, checkpoint } = await signAttested(person);
  const { size } = parseCheckpoint(checkpoint);
  writeFileSync(file, await createQuery(rememberRequest(ledgerId, checkpoint)), { flag: 'wx' });
  const lines = [file, `Have it answered, then run colibri checkpoint --timestamp-add REPLY: ${size} entries.`];
  return { verdict: 'done', lines, facts: { file, size, checkpoint } };
}

/** Adds the reply to the checkpoint that it was requested for. */
export async function addReply(file: string, ca: string | undefined): Promise<CommandResult> {
  if (ca !== undefined) assertCertificates(ca);
  const ledgerId = await withLedger(readProjectConfig(), readLedgerId);
  let response: Buffer;
  try {
    response = readLimited(file, MAX_BYTES);
  } catch (error) {
    throw new CommandError('bad input', `${file} cannot be read`, { cause: error });
  }
  return store(ledgerId, response, ca);
}

async function store(ledgerId: string, response: Buffer, ca: string | undefined): Promise<CommandResult> {
  if (response.length > MAX_BYTES) throw new CommandError('bad input', `a time stamp has at most ${MAX_BYTES} bytes`);
  const token = await extractToken(response);
  const { digest, time } = await readToken(token);
  const requested = findRequested(ledgerId, digest);
  if (requested === undefined)
    throw new CommandError(
      'differs',
      'the time stamp is of something else than a checkpoint that you requested it for',
      {
        advice: 'run colibri checkpoint --timestamp-query FILE first',
      },
    );
  if (ca !== undefined) await verifyToken(token, digest, ca);
  const checkpoint = storeTimeStamp(ledgerId, requested, response);
  const { origin, size, root } = requested;
  const facts = { origin, size, root, time: time.toISOString(), is_checked: ca !== undefined, checkpoint };
  return { verdict: 'done', lines: checkpoint.trimEnd().split('\n'), facts };
}
