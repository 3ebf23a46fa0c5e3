import type { Argument, Command, Option } from 'commander';
import { wrap } from '../views/text-width.ts';

/** One subcommand. Its help text, and its exit code for wrong usage, are generated from this declaration. */
export interface CliCommand<Options extends object = object, Input = unknown> {
  readonly name: string;
  readonly summary: string;
  readonly argument?: Argument;
  /** Comes after `argument`. */
  readonly secondArgument?: Argument;
  readonly options: readonly Option[];
  /** Paragraphs below the options. */
  readonly details?: readonly string[];
  readonly examples: readonly Example[];
  readonly exitCodes: Readonly<Record<number, string>>;
  /** Returns the exit code; undefined if `run` sets it itself. */
  run(options: Options, input: Input, second?: string): Promise<number | undefined>;
}

export type Example = readonly [command: string, note?: string];

const BAD_INPUT = 3;
const USAGE = 64;
const HELP_WIDTH = 80;

export function registerCommand(program: Command, command: CliCommand): void {
  const { name, summary, argument, secondArgument, options } = command;
  const parser = program
    .command(name)
    .description(summary)
    .addHelpText('after', () => renderHelp(command))
    .showHelpAfterError(`Run colibri ${name} --help for usage.`);
  const inputs = [argument, secondArgument].filter((declared) => declared !== undefined);
  for (const input of inputs) parser.addArgument(input);
  for (const option of options) parser.addOption(option);
  parser.action(async (...values: unknown[]) => {
    // Commander passes the value of each declared argument before the options.
    const [input, second] = values.slice(0, inputs.length);
    const exitCode = await command.run(values[inputs.length] as object, input, second as string | undefined);
    if (exitCode !== undefined) process.exitCode = exitCode;
  });
}

export function renderExamples(examples: readonly Example[]): string[] {
  const width = Math.max(...examples.map(([command, note]) => (note === undefined ? 0 : command.length)));
  return [
    'Examples:',
    ...examples.map(([command, note]) => `  ${note === undefined ? command : `${command.padEnd(width)}  ${note}`}`),
  ];
}

/** Commands whose exit code is a verdict report wrong usage as bad input. */
export function usageExitCode({ exitCodes }: CliCommand): number {
  return USAGE in exitCodes ? USAGE : BAD_INPUT;
}

function renderHelp({ details = [], examples, exitCodes }: CliCommand): string {
  const codes = Object.entries(exitCodes).map(([code, meaning]) => `  ${code.padEnd(2)}  ${meaning}`);
  return [
    ...details.flatMap((paragraph) => ['', ...wrap(paragraph, HELP_WIDTH)]),
    '',
    ...renderExamples(examples),
    '',
    'Exit codes:',
    ...codes,
  ].join('\n');
}
