import { Option } from 'commander';
import type { Config } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { listProjects } from '../../domains/tasks/board.ts';
import { printError } from '../../print-error.ts';
import { countListed, type ListedRow, type ListFilters, listPages } from '../query/list-tasks.ts';
import { FILTER_OPTIONS, filtersOf, type TaskFilters } from '../query/task-filters.ts';
import type { CliCommand } from '../support/command.ts';
import { countOption, JSON_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson, printProse, printRecords } from '../support/print.ts';
import { chooseProjects, describeEmpty, PROJECT_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { withLedger } from '../support/with-ledger.ts';
import { CSV_HEADER, csvCells, MARKDOWN_HEADER, markdownLine, renderListLine } from '../views/list.ts';
import { findTerminal } from '../views/terminal.ts';

const DEFAULT_LIMIT = 50;

interface ListOptions extends TaskFilters {
  readonly limit?: number;
  readonly csv?: boolean;
  readonly markdown?: boolean;
  readonly width?: number;
  readonly json?: boolean;
}

export const list: CliCommand<ListOptions> = {
  name: 'list',
  summary: 'list tasks, for people or as CSV, Markdown or JSON',
  options: [
    ...FILTER_OPTIONS,
    countOption('-n, --limit <count>', 'show this many tasks; CSV, Markdown and JSON have all', DEFAULT_LIMIT),
    new Option('--csv', 'print CSV (RFC 4180), for spreadsheets').conflicts(['markdown', 'json']),
    new Option('--markdown', 'print a Markdown table').conflicts(['csv', 'json']),
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Lists the task that changed last first. Has the filters of colibri board; without --project, lists the active project (COLIBRI_PROJECT), or every project if the active one has no tasks.',
    'In CSV, labels and dependencies are joined by semicolons, and a text that a spreadsheet would run as a formula begins with a quote. No column has line breaks: a title and the reason of a block are one line each.',
  ],
  examples: [
    ['colibri list --status open --assignee claude-code'],
    ['colibri list --all --csv > tasks.csv'],
    ['colibri list --status review --markdown'],
    [`colibri list --label security --json | jq -r '.tasks[].title'`],
  ],
  exitCodes: PROJECT_EXIT_CODES,
  run: (options) => runReadCommand('list', options.json ?? false, (config) => showList(config, options)),
};

async function showList(config: Config, options: ListOptions): Promise<number> {
  await withLedger(config, async (reader) => {
    const shown = await chooseProjects(reader, config, options);
    const isAll = shown.length === (await listProjects(reader)).length;
    const filters: ListFilters = { ...filtersOf(options), project: isAll ? undefined : shown[0] };
    if (options.json) return printAsJson(reader, filters, options.limit);
    if (shown.length === 0 && !options.csv && !options.markdown) return printProse(describeEmpty(config));
    return printLines(reader, filters, options);
  });
  return 0;
}

async function printAsJson(reader: Reader, filters: ListFilters, limit?: number): Promise<void> {
  const tasks: ListedRow[] = [];
  for await (const page of listPages(reader, filters, limit ?? Number.POSITIVE_INFINITY)) tasks.push(...page);
  printJson({ tasks, total_count: await countListed(reader, filters) });
}

async function printLines(reader: Reader, filters: ListFilters, options: ListOptions): Promise<void> {
  const { csv = false, markdown = false, width } = options;
  const limit = options.limit ?? (csv || markdown ? Number.POSITIVE_INFINITY : DEFAULT_LIMIT);
  const terminal = findTerminal(width);
  const now = Date.now();
  let count = 0;
  if (csv) printRecords([CSV_HEADER], CSV);
  if (markdown) print(MARKDOWN_HEADER);
  for await (const page of listPages(reader, filters, limit)) {
    count += page.length;
    if (csv) printRecords(page.map(csvCells), CSV);
    else print(page.map((task) => (markdown ? markdownLine(task) : renderListLine(task, terminal, now))));
  }
  const left = (await countListed(reader, filters)) - count;
  const more = `and ${left.toLocaleString('en')} more: use --limit to show them`;
  // What a file receives has tasks only.
  if (left > 0) (csv || markdown ? printError : print)(csv || markdown ? `colibri list: ${more}` : more);
  else if (count === 0 && !csv && !markdown) print('No task matches.');
}

const CSV = { separator: ',', end: '\r\n' } as const;
