import { Argument, Option } from 'commander';
import { readLedgerId } from '../../checkpoints/ledger-id.ts';
import { BadFormat, formatVerifierKey, originOf } from '../../integrity/index.ts';
import type { Asked } from '../../witnesses/ask.ts';
import { addWitness, listWitnesses, removeWitness, toWitness } from '../../witnesses/configured.ts';
import { findCosigned } from '../../witnesses/cosignatures.ts';
import { type Person, type PersonOptions, withPerson } from '../people/open-person.ts';
import { PERSON_OPTIONS } from '../people/run-person.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { readProjectConfig, withLedger } from '../support/with-ledger.ts';
import { signAttested } from './attest.ts';

const ACTIONS = ['add', 'list', 'remove'] as const;
type Action = (typeof ACTIONS)[number] | undefined;

interface WitnessOptions extends PersonOptions {
  readonly key?: string;
}

export const witness: CliCommand<WitnessOptions, Action> = {
  name: 'witness',
  summary: 'have others cosign the checkpoints of this log',
  argument: new Argument('[action]', 'without one, asks every witness for a cosignature now').choices([...ACTIONS]),
  secondArgument: new Argument('[witness]', 'add: its URL; remove: its URL, its key or the name of its key'),
  options: [new Option('--key <key>', 'with add: the verifier key of the witness, name+id+key'), ...PERSON_OPTIONS],
  details: [
    'A witness is a server of another party that speaks C2SP tlog-witness 1.0.0. It sees the id of the log, its size and its root, and no entry. It signs, with the time, that it has never seen another history of this log: then two readers cannot be shown two logs.',
    'The list is empty by default, and then no connection is opened. Each log has its own list in your configuration folder. Give the operator of the witness the output of colibri key.',
    'From then on, a server asks in the background after it has signed a checkpoint, and checkpoint, export, prove and publish ask for the checkpoint that they sign. An agent never waits for a witness.',
  ],
  examples: [
    ['colibri witness add https://witness.example --key witness.example+7d1f…+BKx…'],
    ['colibri witness', 'ask for cosignatures of the log as it is now'],
    ['colibri witness list'],
    ['colibri witness remove https://witness.example'],
  ],
  exitCodes: {
    0: 'done; every witness has cosigned',
    1: 'a witness has seen another history of this log',
    2: 'a witness gave no cosignature, or there is no ledger',
    3: 'bad input',
  },
  run: ({ key, ...options }, action, which) =>
    reportResult('witness', options.json ?? false, () => {
      if (action === undefined) return withPerson(options, ask);
      if (action === 'list') return list();
      if (which === undefined)
        throw new CommandError('bad input', `${action} needs a witness`, { advice: 'see colibri witness --help' });
      return action === 'add' ? add(which, key) : remove(which);
    }),
};

async function ask(person: Person): Promise<CommandResult> {
  const { checkpoint, asked } = await signAttested(person);
  if (asked.length === 0)
    throw new CommandError('bad input', 'this log has no witnesses', {
      advice: 'run colibri witness add URL --key KEY',
    });
  const states = new Set(asked.map(({ state }) => state));
  const verdict = states.has('disagrees') ? 'differs' : states.has('failed') ? 'cannot tell' : 'done';
  return { verdict, lines: asked.map(describe), facts: { witnesses: asked, checkpoint } };
}

function describe(asked: Asked): string {
  if (asked.state !== 'cosigned') return `${asked.name} ${asked.problem}`;
  return `${asked.name} cosigned ${asked.size} entries at ${timeOf(asked.time)}`;
}

async function add(url: string, key: string | undefined): Promise<CommandResult> {
  if (key === undefined)
    throw new CommandError('bad input', 'a cosignature proves nothing without the key of the witness', {
      advice: 'pass --key KEY, as the operator of the witness publishes it',
    });
  const ledgerId = await findLedgerId();
  const added = parse(url, key);
  addWitness(ledgerId, added);
  const lines = [
    `${added.key.name} at ${added.url} will be asked to cosign ${originOf(ledgerId)}.`,
    'Give its operator the output of colibri key, then run colibri witness.',
  ];
  return { verdict: 'done', lines, facts: { url: added.url, key, origin: originOf(ledgerId) } };
}

async function remove(which: string): Promise<CommandResult> {
  const ledgerId = await findLedgerId();
  if (!removeWitness(ledgerId, which.replace(/(?<!\/)\/+$/, '')))
    throw new CommandError('bad input', `no witness ${which}`, { advice: 'run colibri witness list' });
  return { verdict: 'done', lines: [`${which} will not be asked any more.`], facts: { removed: which } };
}

async function list(): Promise<CommandResult> {
  const ledgerId = await findLedgerId();
  const witnesses = listWitnesses(ledgerId).map(({ url, key }) => {
    const cosigned = findCosigned(ledgerId, key);
    return {
      url,
      key: formatVerifierKey(key),
      ...(cosigned !== undefined && { size: cosigned.size, at: timeOf(cosigned.time) }),
    };
  });
  const lines = witnesses.flatMap(({ url, key, size, at }) => [
    url,
    `  ${key}`,
    at === undefined ? '  has cosigned nothing yet' : `  cosigned ${size} entries at ${at}`,
  ]);
  return { verdict: 'done', lines: lines.length === 0 ? ['This log has no witnesses.'] : lines, facts: { witnesses } };
}

function findLedgerId(): Promise<string> {
  return withLedger(readProjectConfig(), readLedgerId);
}

function parse(url: string, key: string) {
  try {
    return toWitness(url, key);
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
    throw new CommandError('bad input', error.message, {
      advice: 'pass an https URL, and the key as name+id+key for cosignatures',
    });
  }
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
