import type { Argument, Option } from 'commander';
import { STATUSES } from '../../domains/tasks/workflows.ts';
import { TOOL_NAMES } from '../../recorder/clients/colibri-call.ts';
import type { CliCommand } from '../support/command.ts';

/** What a shell can complete, derived from the declarations of the commands. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly argument: Completed | undefined;
}

export interface CompletedOption {
  /** "-n", "--limit" */
  readonly flags: readonly string[];
  readonly description: string;
  /** Undefined if the option takes no value. */
  readonly value: Completed | undefined;
}

/** A closed set of words, the ids of tasks, files, or something that only the user knows. */
export type Completed = readonly string[] | 'task' | 'file' | 'text';

export function completedCommands(commands: readonly CliCommand[]): CompletedCommand[] {
  return commands.map(({ name, summary, options, argument }) => ({
    name,
    summary,
    options: [...options.map(completedOption), HELP],
    argument: argument && completedArgument(argument),
  }));
}

const HELP: CompletedOption = { flags: ['-h', '--help'], description: 'print the help', value: undefined };

function completedOption(option: Option): CompletedOption {
  const { short, long, description, argChoices } = option;
  const flags = [short, long].filter((flag) => flag !== undefined);
  const takesValue = option.required || option.optional;
  return { flags, description, value: takesValue ? (argChoices ?? valueOfOption(long)) : undefined };
}

/** Keyed by the name of the option, which means the same in every command. */
function valueOfOption(long: string | undefined): Completed {
  if (long === '--status') return ['open', ...STATUSES];
  if (long === '--tool') return [...TOOL_NAMES];
  return long === '--task' ? 'task' : 'text';
}

function completedArgument(argument: Argument): Completed {
  if (argument.argChoices !== undefined) return argument.argChoices;
  const name = argument.name();
  if (name === 'tool') return [...TOOL_NAMES];
  return name === 'task' || name === 'file' ? name : 'text';
}

/** For a POSIX shell and for fish: one word, whatever it has. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
