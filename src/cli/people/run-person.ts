import { InvalidArgumentError, Option } from 'commander';
import { isVisible } from '../../fields.ts';
import { CommandError, reportResult } from '../support/command-result.ts';
import { JSON_OPTION } from '../support/options.ts';
import { type Person, type PersonCall, type PersonOptions, type PersonSettings, withPerson } from './open-person.ts';
import { AS_OPTION } from './person-name.ts';
import { refusalOf } from './refusal.ts';
import { readText } from './text-argument.ts';

export const PERSON_OPTIONS = [AS_OPTION, JSON_OPTION] as const;

export const FORCE_OPTION = new Option(
  '--force <why>',
  'override the claim of another agent; the reason is recorded, and - reads it from standard input',
).argParser(parseReason);

export const WRITE_EXIT_CODES = {
  0: 'done and recorded',
  1: 'refused: nothing was changed',
  2: 'the ledger cannot be used, or the result could not be recorded',
  3: 'invalid usage or configuration',
} as const;

/** What a command did: lines for people, and the call whose answer `--json` prints. */
export interface Done {
  readonly lines: readonly string[];
  readonly call: PersonCall;
}

/** Runs a command that writes to the ledger as a person; the output comes after the ledger is closed. */
export function runPersonCommand(
  name: string,
  options: PersonOptions,
  work: (person: Person) => Promise<Done>,
  settings: Pick<PersonSettings, 'createsLedger'> = {},
): Promise<number> {
  return reportResult(name, options.json ?? false, async () => {
    const { lines, call } = await withPerson(options, work, settings);
    return { verdict: 'done', lines, facts: { ...call.answer.structuredContent, ...entryFact(call) } };
  });
}

/** Calls a tool; a failure ends the command. */
export async function callOrRefuse(
  person: Person,
  command: string,
  tool: string,
  input: object,
  force?: string,
): Promise<PersonCall & { readonly data: object }> {
  const call = await person.call(tool, input, force === undefined ? undefined : await readReason(force));
  if (call.answer.isError) throw refusalOf(command, call.answer, person);
  return { ...call, data: call.answer.structuredContent['data'] as object };
}

/** " (entry 57)" */
export function entryNote({ entry }: PersonCall): string {
  return entry === undefined ? '' : ` (entry ${entry})`;
}

export interface Warned {
  readonly warnings?: readonly string[];
}

export function listWarnings({ warnings = [] }: Warned): string[] {
  return warnings.map((warning) => `warning: ${warning}`);
}

function entryFact({ entry }: PersonCall): { readonly entry?: number } {
  return entry === undefined ? {} : { entry };
}

const MAX_REASON_LENGTH = 1000;

const REASON = `a reason in one line of at most ${MAX_REASON_LENGTH} characters`;

function isReason(text: string): boolean {
  return isVisible(text) && text.length <= MAX_REASON_LENGTH && !/\p{Cc}/u.test(text);
}

export function parseReason(text: string): string {
  // Recorded forever: "--force --reason why" must not record "--reason".
  if (text.startsWith('--'))
    throw new InvalidArgumentError('The reason comes right after the option, and does not begin with two hyphens.');
  if (isReason(text)) return text;
  throw new InvalidArgumentError(`Give ${REASON}.`);
}

/** A reason as it was given, or that on standard input for `-`. */
export async function readReason(given: string): Promise<string> {
  const reason = await readText(given);
  if (isReason(reason)) return reason;
  throw new CommandError('bad input', 'the text on standard input is not a reason', { advice: `give ${REASON}` });
}
