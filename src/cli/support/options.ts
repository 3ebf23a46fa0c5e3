import { InvalidArgumentError, Option } from 'commander';
import { isProjectSlug } from '../../integrity/index.ts';

const MAX_COUNT = 100_000;
const MIN_WIDTH = 20;
const MAX_WIDTH = 1000;

export const JSON_OPTION = new Option('--json', 'print the result as JSON');
export const UTC_OPTION = new Option('--utc', 'print times in UTC instead of local time');
export const WATCH_OPTION = new Option('--watch', 'redraw when something changes, until q or Ctrl-C');
export const PROJECT_OPTION = new Option('-p, --project <slug>', 'use this project').argParser(parseProject);
export const ALL_OPTION = new Option('-a, --all', 'include every project').conflicts('project');
export const WIDTH_OPTION = new Option(
  '--width <columns>',
  'fit the output to this width (default: the width of the terminal)',
).argParser(parseWidth);

export function countOption(flags: string, description: string, fallback: number): Option {
  return new Option(flags, `${description} (default: ${fallback})`).argParser(parseCount);
}

/** For an option that may be repeated. */
export function collect(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, text];
}

export function parseWidth(text: string): number {
  const width = Number(text);
  if (/^\d+$/.test(text) && width >= MIN_WIDTH && width <= MAX_WIDTH) return width;
  throw new InvalidArgumentError(`Use a number of columns from ${MIN_WIDTH} to ${MAX_WIDTH}.`);
}

export function parseProject(text: string): string {
  if (isProjectSlug(text)) return text;
  throw new InvalidArgumentError('A project is a slug of a-z, 0-9, ".", "_", "-", at most 64 characters.');
}

/** The number of an option without a default. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1 && count <= MAX_COUNT) return count;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_COUNT}.`);
}
