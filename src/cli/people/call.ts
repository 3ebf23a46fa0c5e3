import { Argument } from 'commander';
import { toError } from '../../errors.ts';
import { NotCanonical, parseJson } from '../../integrity/index.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError } from '../support/command-result.ts';
import type { PersonOptions } from './open-person.ts';
import { refusalOf } from './refusal.ts';
import { entryNote, PERSON_OPTIONS, runPersonCommand, WRITE_EXIT_CODES } from './run-person.ts';
import { readText } from './text-argument.ts';

export const call: CliCommand<PersonOptions, string> = {
  name: 'call',
  summary: 'call one of the 14 tools with JSON',
  argument: new Argument('<tool>', 'the name of the tool'),
  secondArgument: new Argument('[json]', 'the input; - reads it from standard input').default('{}'),
  options: [...PERSON_OPTIONS],
  details: [
    'The call is recorded like that of an agent, and prints what the tool answers. docs/tools.md describes every tool and its input.',
  ],
  examples: [[`colibri call task_list '{"status":"review"}'`], ['colibri call server_health --json | jq .data.phase']],
  exitCodes: WRITE_EXIT_CODES,
  run: (options, tool, json = '{}') =>
    runPersonCommand(
      'call',
      options,
      async (person) => {
        const made = await person.call(tool.slice(0, MAX_NAME_LENGTH).toWellFormed(), parseInput(await readText(json)));
        const { answer } = made;
        if (answer.isError) throw refusalOf('call', answer, person);
        const text = JSON.stringify(answer.structuredContent['data'], null, 2);
        return {
          call: made,
          lines: [...text.split('\n'), ...(made.entry === undefined ? [] : [entryNote(made).trim()])],
        };
      },
      { createsLedger: true },
    ),
};

/** Same limit as the tool names that a server records. */
const MAX_NAME_LENGTH = 128;

function parseInput(text: string): unknown {
  try {
    const input = parseJson(text);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof NotCanonical)) throw thrown;
    throw new CommandError('bad input', `the input is not JSON: ${toError(thrown).message}`, {
      advice: 'quote it for the shell',
    });
  }
  throw new CommandError('bad input', 'the input is not a JSON object', { advice: `write it as '{"field":"value"}'` });
}
