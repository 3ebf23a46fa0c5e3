import { Option } from 'commander';
import { continueLog } from '../../checkpoints/continue-log.ts';
import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { forgetLocation, readLocation } from '../../checkpoints/signed-locations.ts';
import { type Person, type PersonOptions, withPerson } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { askYesOrNo, canAsk, print } from '../support/print.ts';

interface ContinueOptions extends PersonOptions {
  readonly yes?: boolean;
}

export const continueCommand: CliCommand<ContinueOptions> = {
  name: 'continue',
  summary: 'continue a rolled-back log as a new log that names the old one',
  options: [new Option('--yes', 'do not ask'), ...PERSON_OPTIONS],
  details: [
    'A server refuses to write to a log that does not extend the last checkpoint you have signed: a backup was restored, or entries were removed. To continue from here, this command replaces the first entry with one that names you, the old log, its size and its root. All other entries stay as they are.',
    'Old checkpoints and proofs belong to the old log; the new one has its own identity.',
  ],
  examples: [['colibri continue'], ['colibri continue --yes', 'without asking']],
  exitCodes: { 0: 'done', 1: 'refused', 2: 'cannot tell', 3: 'bad input' },
  run: ({ yes = false, ...options }) =>
    reportResult('continue', options.json ?? false, () =>
      withPerson(options, (person) => goOn(person, yes, options.json ?? false)),
    ),
};

async function goOn({ database, rollback, actor }: Person, yes: boolean, json: boolean): Promise<CommandResult> {
  if (rollback === undefined || database === undefined)
    throw new CommandError('refused', 'the log extends what you have signed; there is nothing to do');
  if (!yes && !(await isConfirmed(rollback.message, json)))
    throw new CommandError('refused', 'not confirmed', { advice: 'pass --yes' });
  const at = new Date().toISOString();
  const former = await database.read(readLedgerId);
  const { ledgerId, size } = await database.write({ durable: 'always' }, (db) => continueLog(db, { actor, at }));
  forgetLocation(await database.read((reader) => readLocation(reader, database.location)), former);
  const lines = [`The log of ${size} entries continues as ${ledgerId}. Run colibri checkpoint to sign it.`];
  return { verdict: 'done', lines, facts: { ledger_id: ledgerId, size } };
}

async function isConfirmed(problem: string, json: boolean): Promise<boolean> {
  if (json || !canAsk()) return false;
  print([problem]);
  return askYesOrNo('Continue from here as a new log?');
}
