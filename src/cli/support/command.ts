import type { Argument, Command, Help, Option } from 'commander';
import { besideTerm, displayWidth, MIN_TEXT_WIDTH, wrap } from '../views/text-width.ts';
import { JSON_OPTION } from './options.ts';
import { findScreen } from './print.ts';

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
const UNWRITTEN = 74;
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

export function renderExamples(examples: readonly Example[], width = helpWidth()): string[] {
  const fits = (command: string, note = '') => displayWidth(`  ${command}  ${note}`) <= width;
  const beside = examples.filter(([command, note]) => note !== undefined && fits(command, note));
  const column = Math.max(0, ...beside.map(([command]) => command.length));
  return [
    'Examples:',
    ...examples.flatMap(([command, note]) => {
      const text = `  ${command}`;
      if (note === undefined) return text;
      return width >= HELP_WIDTH && command.length <= column && fits(command.padEnd(column), note)
        ? `${text.padEnd(column + 2)}  ${note}`
        : [text, ...wrap(note, width - 6).map((line) => `      ${line}`)];
    }),
  ];
}

/** Prose is easier to read in lines that are not too long. */
export function helpWidth(): number {
  const { isTTY, columns } = findScreen();
  return isTTY ? Math.min(HELP_WIDTH, columns || HELP_WIDTH) : HELP_WIDTH;
}

/** Commander wraps no description where less than 40 columns are left for it. */
export const HELP_LAYOUT: Partial<Help> = {
  showGlobalOptions: false,
  minWidthToWrap: MIN_TEXT_WIDTH,
  formatItem: (term, termWidth, description, helper) =>
    besideTerm({ text: `  ${term}`, width: termWidth + 4 }, description, helper.helpWidth ?? HELP_WIDTH).join('\n'),
};

/** Commands whose exit code is a verdict report wrong usage as bad input. */
export function usageExitCode({ exitCodes }: CliCommand): number {
  return USAGE in exitCodes ? USAGE : BAD_INPUT;
}

/** Adds the exit code that all commands share whose output is their result. */
export function listExitCodes({ options, exitCodes }: CliCommand): [code: string, meaning: string][] {
  const own = Object.entries(exitCodes);
  return options.includes(JSON_OPTION) ? [...own, [String(UNWRITTEN), 'the output could not be written']] : own;
}

function renderHelp(command: CliCommand): string {
  const { details = [], examples } = command;
  const width = helpWidth();
  const codes = listExitCodes(command).flatMap(([code, meaning]) =>
    besideTerm({ text: `  ${code}`, width: 6 }, meaning, width),
  );
  return [
    ...details.flatMap((paragraph) => ['', ...wrap(paragraph, width)]),
    '',
    ...renderExamples(examples),
    '',
    'Exit codes:',
    ...codes,
  ].join('\n');
}
