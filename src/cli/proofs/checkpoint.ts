import { Option } from 'commander';
import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { listKeys } from '../../checkpoints/ledger-keys.ts';
import { assertEntriesExtend } from '../../checkpoints/rollback.ts';
import { ColibriError } from '../../errors.ts';
import { originOf, parseCheckpoint } from '../../integrity/index.ts';
import { readHead } from '../../ledger/head.ts';
import { readVersion } from '../../version.ts';
import { type Person, type PersonOptions, withPerson } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { collect } from '../support/options.ts';
import { withProgress } from '../support/progress-bar.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';
import { createYieldingReader } from '../support/yielding-reader.ts';
import { signForOthers } from '../witnesses/attest.ts';
import { CI_KINDS, type CiKind, ciJob } from '../witnesses/ci-job.ts';
import { COMMITTED_PATH, writeCommitted } from '../witnesses/committed.ts';
import { compareCommitted, readCheckpointFile, verify } from '../witnesses/compare.ts';
import { addReply, requestTimeStamp, writeQuery } from '../witnesses/time-stamp.ts';
import { findPublicKey } from './key.ts';

interface CheckpointOptions extends PersonOptions {
  readonly check?: string;
  readonly against?: string;
  readonly key?: readonly string[];
  /** `true` if the option has no file argument. */
  readonly write?: string | true;
  readonly ci?: CiKind | true;
  readonly timestamp?: string;
  readonly timestampQuery?: string;
  readonly timestampAdd?: string;
  readonly tsaCa?: string;
}

export const checkpoint: CliCommand<CheckpointOptions> = {
  name: 'checkpoint',
  summary: 'sign the size and root of the log, or check an earlier signature',
  options: [
    new Option('--check <file>', 'prove that the log extends the checkpoint in this file; - is standard input'),
    new Option('--against <file>', 'with --check: the checkpoint that must extend it, instead of the ledger'),
    new Option(
      '--key <key>',
      'with --check: a key to trust; may be repeated (default: those that the ledger names)',
    ).argParser(collect),
    new Option('--write [file]', `write it where it can be committed (default: ${COMMITTED_PATH})`),
    new Option('--ci [kind]', 'print the job for CI, with the key of this log (default: github)').choices(CI_KINDS),
    new Option('--timestamp <url>', 'have this authority stamp it with the time (RFC 3161), by openssl'),
    new Option('--timestamp-query <file>', 'write the request for a time stamp, for a time-stamping authority'),
    new Option('--timestamp-add <file>', 'add the answer to such a request'),
    new Option('--tsa-ca <file>', 'with a time stamp: the certificates that it must be verified with'),
    ...PERSON_OPTIONS,
  ],
  details: [
    'A checkpoint is a C2SP signed note of three lines: which log, how many entries, which root. A person who keeps one can prove later that nothing before it was changed or removed. Witnesses that you have added cosign it: see colibri witness.',
    'With --write, it goes to a file that you commit, with the proof that it extends those that were committed before. Your remote and your CI then hold what your machine cannot take back: CI compares two commits with --check and --against and needs no ledger. --ci prints the job.',
  ],
  examples: [
    ['colibri checkpoint > colibri.checkpoint', 'to send to an auditor'],
    ['colibri checkpoint --check colibri.checkpoint'],
    ['colibri checkpoint --write', 'before a commit'],
    ['colibri checkpoint --ci > .github/workflows/colibri.yml', 'once, to let CI compare them'],
    ['colibri checkpoint --timestamp https://tsa.example --tsa-ca tsa.pem > stamped.checkpoint'],
    ['git show origin/main:.colibri/checkpoint | colibri checkpoint --check -'],
    ['colibri checkpoint --check old --against .colibri/checkpoint --key KEY', 'in CI, without the ledger'],
  ],
  exitCodes: { 0: 'signed, or the log extends it', 1: 'the log does not extend it', 2: 'cannot tell', 3: 'bad input' },
  run: (options) => reportResult('checkpoint', options.json ?? false, () => choose(options)),
};

async function choose(options: CheckpointOptions): Promise<CommandResult> {
  const { check, against, key, write, ci, timestamp, timestampQuery, timestampAdd, tsaCa } = options;
  if (check === undefined && (against !== undefined || key !== undefined))
    throw new CommandError('bad input', '--against and --key need --check');
  const chosen = [check, write, ci, timestamp, timestampQuery, timestampAdd].filter((each) => each !== undefined);
  if (chosen.length > 1)
    throw new CommandError(
      'bad input',
      'one thing at a time: only --against, --key and --tsa-ca add to another option',
    );
  if (tsaCa !== undefined && timestamp === undefined && timestampAdd === undefined)
    throw new CommandError('bad input', '--tsa-ca needs --timestamp or --timestamp-add');
  if (against !== undefined && check !== undefined) return compareCommitted(check, against, key ?? []);
  if (check !== undefined) return compare(check, key);
  if (ci !== undefined) return printJob(ci === true ? 'github' : ci);
  if (timestampAdd !== undefined) return addReply(timestampAdd, tsaCa);
  const file = write === true ? undefined : write;
  return withPerson(options, (person) => {
    if (timestamp !== undefined) return requestTimeStamp(person, timestamp, tsaCa);
    if (timestampQuery !== undefined) return writeQuery(person, timestampQuery);
    return write === undefined ? sign(person) : writeCommitted(person, file);
  });
}

async function sign(person: Person): Promise<CommandResult> {
  const text = await signForOthers(person);
  const { origin, size, root } = parseCheckpoint(text);
  return { verdict: 'done', lines: text.trimEnd().split('\n'), facts: { origin, size, root, checkpoint: text } };
}

async function printJob(kind: CiKind): Promise<CommandResult> {
  const key = await findPublicKey(readProjectConfig());
  const lines = ciJob(kind, { key, version: readVersion() });
  return { verdict: 'done', lines, facts: { kind, key, job: `${lines.join('\n')}\n` } };
}

async function compare(file: string, keys: readonly string[] | undefined): Promise<CommandResult> {
  const text = readCheckpointFile(file);
  return withLedger(readProjectConfig(), async (reader) => {
    // The keys in the ledger prove only that it is consistent; a key from another source proves who signed.
    const signed = verify(text, file, keys ?? (await listKeys(reader)).map((known) => known.key));
    const origin = originOf(await readLedgerId(reader));
    if (signed.origin !== origin)
      throw new CommandError('differs', `${file} is a checkpoint of another log, ${signed.origin}`);
    try {
      await withProgress('checking', (progress) => assertEntriesExtend(createYieldingReader(reader), signed, progress));
    } catch (error) {
      if (error instanceof ColibriError) throw new CommandError('differs', error.problem, { advice: error.advice });
      throw error;
    }
    const { size, root } = await readHead(reader);
    const line = `the log of ${size} entries extends the checkpoint of ${signed.size}`;
    const lines = [line, `signed by ${signed.signers.map(({ name }) => name).join(', ')}`];
    return { verdict: 'whole', lines, facts: { size, root, signed_size: signed.size, signed_root: signed.root } };
  });
}
