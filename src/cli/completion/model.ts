import type { Argument, Option } from 'commander';
import { STATUSES } from '../../domains/tasks/workflows.ts';
import { TOOL_NAMES } from '../../recorder/clients/colibri-call.ts';
import type { CliCommand } from '../support/command.ts';
import { CONDITION_NAMES } from '../watch/wait-conditions.ts';

/** What a shell can complete, derived from the declarations of the commands. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly argument: CompletedArgument | undefined;
}

export interface CompletedArgument {
  readonly value: Completed;
  readonly isRepeated: boolean;
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
    options: [...options.map((option) => completedOption(name, option)), HELP],
    argument: argument && completedArgument(argument),
  }));
}

const HELP: CompletedOption = { flags: ['-h', '--help'], description: 'print the help', value: undefined };

function completedOption(command: string, option: Option): CompletedOption {
  const { short, long, description, argChoices, flags } = option;
  const [, placeholder] = /<([^<>]+)>/.exec(flags) ?? [];
  const value = argChoices ?? WORDS[`${command} ${long}`] ?? WORDS[long ?? ''] ?? valueNamed(placeholder);
  const takesValue = option.required || option.optional;
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: takesValue ? value : undefined,
  };
}

const TOOLS = [...TOOL_NAMES];

/** The words of options that take others as well, by command or for all commands. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'add --status': ['todo', 'backlog'],
  'edit --status': STATUSES,
  '--status': ['open', ...STATUSES],
  '--tool': TOOLS,
  '--for': CONDITION_NAMES,
};

function completedArgument(argument: Argument): CompletedArgument {
  return { value: argument.argChoices ?? valueNamed(argument.name()), isRepeated: argument.variadic };
}

/** What the help calls the value. */
function valueNamed(placeholder: string | undefined): Completed {
  if (placeholder === 'tool') return TOOLS;
  if (placeholder === 'dir') return 'file';
  return placeholder === 'task' || placeholder === 'file' ? placeholder : 'text';
}

/** For a POSIX shell and for fish: one word, whatever it has. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
