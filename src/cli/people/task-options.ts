import { InvalidArgumentError, Option } from 'commander';
import { PRIORITIES } from '../../integrity/index.ts';
import { collect } from '../support/options.ts';
import { parseTaskId } from '../support/task-argument.ts';
import { readOptionalText } from './text-argument.ts';

/** The fields of a task as options of `add` and `edit`. */

export interface TaskOptions {
  readonly description?: string;
  readonly status?: string;
  readonly priority?: string;
  readonly assignee?: string;
  readonly label?: readonly string[];
  readonly parent?: string;
  readonly dependsOn?: readonly string[];
  readonly estimate?: number | '';
}

export const TASK_OPTIONS = [
  new Option('-d, --description <text>', 'what to do and why; - reads it from standard input'),
  new Option('--priority <level>', 'how urgent it is').choices(PRIORITIES),
  new Option('--assignee <name>', 'who should do it; - reads the name from standard input'),
  new Option('-l, --label <label>', 'a label; repeat the option for more').argParser(collect),
  new Option('--parent <task>', 'the task that it is a part of').argParser(orEmpty(parseTaskId)),
  new Option('--depends-on <task>', 'a task that it waits for; repeat the option for more').argParser(collectTasks),
  new Option('--estimate <hours>', 'how long it takes').argParser(orEmpty(parseNumber)),
] as const;

/** Only the options that were given; an empty text clears the field. */
export async function taskInput(options: TaskOptions): Promise<Record<string, unknown>> {
  const { status, priority, label, parent, dependsOn, estimate } = options;
  const description = await readOptionalText(options.description);
  const assignee = await readOptionalText(options.assignee);
  const given = {
    description,
    status,
    priority,
    assignee: cleared(assignee),
    labels: withoutEmpty(label),
    parent_id: cleared(parent),
    depends_on: withoutEmpty(dependsOn),
    estimate_hours: cleared(estimate),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export function parseNumber(text: string): number {
  const number = Number(text);
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) return number;
  throw new InvalidArgumentError('Use a number such as 2 or 2.5.');
}

function cleared<Value>(value: Value): Value | null {
  return value === '' ? null : value;
}

function withoutEmpty(values: readonly string[] | undefined): string[] | undefined {
  return values?.filter((value) => value !== '');
}

function orEmpty<Value>(parse: (text: string) => Value): (text: string) => Value | '' {
  return (text) => (text === '' ? '' : parse(text));
}

function collectTasks(text: string, earlier?: readonly string[]): readonly string[] {
  return collect(orEmpty(parseTaskId)(text), earlier);
}
