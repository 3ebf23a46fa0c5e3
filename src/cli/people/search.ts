import { Argument } from 'commander';
import type { Config } from '../../config.ts';
import { type ListedTask, listTasks } from '../../domains/tasks/list-query.ts';
import { UNASSIGNED } from '../../domains/tasks/workflows.ts';
import type { CliCommand } from '../support/command.ts';
import { countOption, JSON_OPTION, PROJECT_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson } from '../support/print.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { withLedger } from '../support/with-ledger.ts';
import { findTerminal, plural, statusPaint, type Terminal } from '../views/terminal.ts';
import { cutWords, printable } from '../views/text-width.ts';

const DEFAULT_LIMIT = 20;
const NOTHING_FOUND = 1;

interface SearchOptions {
  readonly project?: string;
  readonly limit?: number;
  readonly width?: number;
  readonly json?: boolean;
}

export const search: CliCommand<SearchOptions, readonly string[]> = {
  name: 'search',
  summary: 'find tasks by words of their title and description',
  argument: new Argument('<words...>', 'words that all must occur'),
  options: [
    PROJECT_OPTION,
    countOption('-n, --limit <count>', 'show this many tasks', DEFAULT_LIMIT),
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: ['Searches every project, last changed first, with the index that task_list uses. Records nothing.'],
  examples: [['colibri search parser cache'], [`colibri search parser --json | jq -r '.tasks[].task_id'`]],
  exitCodes: { ...READ_EXIT_CODES, 1: 'no task has these words' },
  run: (options, words) =>
    runReadCommand('search', options.json ?? false, (config) => showMatches(config, words.join(' '), options)),
};

async function showMatches(config: Config, text: string, options: SearchOptions): Promise<number> {
  const { project, limit = DEFAULT_LIMIT, width, json } = options;
  const query = {
    search: text,
    limit,
    offset: 0,
    sort_by: 'updated',
    sort_order: 'desc',
    ...(project === undefined ? {} : { project }),
  } as const;
  const { tasks, total } = await withLedger(config, (reader) => listTasks(reader, query));
  if (json) printJson({ tasks, total_count: total });
  else print(renderMatches(tasks, total, findTerminal(width)));
  return total === 0 ? NOTHING_FOUND : 0;
}

function renderMatches(tasks: readonly ListedTask[], total: number, terminal: Terminal): string[] {
  const lines = tasks.map((task) => renderMatch(task, terminal));
  if (total > tasks.length) lines.push(`and ${plural(total - tasks.length, 'more task')}: use --limit to show them`);
  return total === 0 ? ['no task has these words'] : lines;
}

function renderMatch({ task_id, status, title, project, assignee }: ListedTask, { width, colors }: Terminal): string {
  const head = `${task_id} ${status.padEnd(STATUS_WIDTH)} `;
  const facts = [project, ...(assignee === UNASSIGNED ? [] : [`@${assignee}`])].map(printable).join(' ');
  const room = (width ?? Number.POSITIVE_INFINITY) - head.length;
  return statusPaint(colors, status)(head) + cutWords(`${printable(title)}  ${facts}`, room);
}

const STATUS_WIDTH = 'in_progress'.length;
