import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { listKeys } from '../../checkpoints/ledger-keys.ts';
import { assertExtends } from '../../checkpoints/rollback.ts';
import type { Reader } from '../../db/database.ts';
import { ColibriError } from '../../errors.ts';
import {
  BadFormat,
  originOf,
  parseCheckpoint,
  parseVerifierKey,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from '../../integrity/index.ts';
import { readHead } from '../../ledger/head.ts';
import { type Person, type PersonOptions, withPerson } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';

interface CheckpointOptions extends PersonOptions {
  readonly check?: string;
  readonly key?: string;
}

export const checkpoint: CliCommand<CheckpointOptions> = {
  name: 'checkpoint',
  summary: 'sign the size and root of the log, or check an earlier signature',
  options: [
    new Option('--check <file>', 'prove that the log extends the checkpoint in this file'),
    new Option('--key <key>', 'with --check: the key to trust (default: the keys that the ledger names)'),
    ...PERSON_OPTIONS,
  ],
  details: [
    'A checkpoint is a C2SP signed note of three lines: which log, how many entries, which root. A person who keeps one can prove later that nothing before it was changed or removed.',
    'Commit it to your repository, where your own machine cannot take it back: see docs/trust.md.',
  ],
  examples: [
    ['colibri checkpoint > colibri.checkpoint', 'to commit, or to send to an auditor'],
    ['colibri checkpoint --check colibri.checkpoint'],
  ],
  exitCodes: { 0: 'signed, or the log extends it', 1: 'the log does not extend it', 2: 'cannot tell', 3: 'bad input' },
  run: ({ check, key, ...options }) =>
    reportResult('checkpoint', options.json ?? false, () =>
      check === undefined ? withPerson(options, false, sign) : compare(check, key),
    ),
};

async function sign({ signCheckpoint }: Person): Promise<CommandResult> {
  const text = await signCheckpoint();
  const { origin, size, root } = parseCheckpoint(text);
  return { verdict: 'done', lines: text.trimEnd().split('\n'), facts: { origin, size, root, checkpoint: text } };
}

async function compare(file: string, key: string | undefined): Promise<CommandResult> {
  const text = readFile(file);
  return withLedger(readProjectConfig(), async (reader) => {
    const signed = await verifySigned(reader, text, key);
    const origin = originOf(await readLedgerId(reader));
    if (signed.origin !== origin)
      throw new CommandError('differs', `${file} is a checkpoint of another log, ${signed.origin}`);
    try {
      await assertExtends(reader, signed);
    } catch (error) {
      if (error instanceof ColibriError) throw new CommandError('differs', error.problem);
      throw error;
    }
    const { size, root } = await readHead(reader);
    const line = `the log of ${size} entries extends the checkpoint of ${signed.size}`;
    const lines = [line, `signed by ${signed.signers.map(({ name }) => name).join(', ')}`];
    return { verdict: 'whole', lines, facts: { size, root, signed_size: signed.size, signed_root: signed.root } };
  });
}

/** The keys of the ledger itself prove only that it did not change its mind; a key from elsewhere proves who signed. */
async function verifySigned(reader: Reader, text: string, key: string | undefined): Promise<VerifiedCheckpoint> {
  try {
    const keys = key === undefined ? (await listKeys(reader)).map((known) => known.key) : [key];
    return verifyCheckpoint(text, { log: keys.map(parseVerifierKey) });
  } catch (error) {
    if (error instanceof BadFormat) throw new CommandError('bad input', error.message);
    throw error;
  }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError('bad input', `${file} cannot be read`, { cause: error });
  }
}
