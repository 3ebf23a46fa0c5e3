import { Option } from 'commander';
import type { Config } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { type Board, listProjects, readBoards } from '../../domains/tasks/board.ts';
import type { ClaimContext } from '../../domains/tasks/claims/holder.ts';
import { readHead } from '../../ledger/head.ts';
import { wrapProse } from '../../text/prose.ts';
import { withReader } from '../people/open-person.ts';
import { makeBundle } from '../proofs/make-bundle.ts';
import { FILTER_OPTIONS, filtersOf, type TaskFilters } from '../query/task-filters.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError, type CommandResult, reportResult } from '../support/command-result.ts';
import { countOption, JSON_OPTION, WATCH_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { chooseProjects, describeEmpty, PROJECT_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { withDatabase } from '../support/with-ledger.ts';
import { type BoardsView, renderBoards } from '../views/board.ts';
import { findTerminal } from '../views/terminal.ts';
import { showView } from '../watch/live-view.ts';

const CARDS_PER_COLUMN = 8;
const PAGE_FILE = 'colibri-board.html';
const MAX_PAGE_ENTRIES = 300_000;

interface BoardOptions extends TaskFilters {
  readonly limit?: number;
  readonly watch?: boolean;
  readonly width?: number;
  /** `true` writes to the default path. */
  readonly html?: string | true;
  readonly json?: boolean;
}

export const board: CliCommand<BoardOptions> = {
  name: 'board',
  summary: 'show tasks in columns: what is ready, who holds what, what is blocked',
  options: [
    ...FILTER_OPTIONS,
    countOption('-n, --limit <count>', 'show this many cards per column', CARDS_PER_COLUMN),
    WATCH_OPTION,
    WIDTH_OPTION,
    new Option('--html [file]', `write a page with the whole ledger, for a browser (default: ${PAGE_FILE})`),
    JSON_OPTION,
  ],
  details: [
    'Without --project, shows the active project (COLIBRI_PROJECT), or every project if the active one has no tasks.',
    'Ready and blocked tasks are sorted by priority, tasks in other columns by their last change.',
    'The time beside the id is the time since the last change of the task. If an agent holds the task, the card has the time since the last call of that agent instead, and shows a lapsed claim, which another agent may take over.',
    '2/3 observed: the decisions of the task name three tests and commits, and the recorder has reported two of them. Contradicted ones are counted apart; colibri show has each.',
    'With --html, writes a snapshot: the board, the timeline and the Merkle tree of the signed log in one file, which needs no server and no network. It replaces an earlier page. To leave content out, or to show one task only, use colibri export --html.',
    'With --watch --json, prints one JSON object per line whenever something changed.',
  ],
  examples: [
    ['colibri board'],
    ['colibri board --watch'],
    ['colibri board --project web --assignee claude-code --status open'],
    ['colibri board --search "signing key" --limit 20'],
    ['colibri board --all | grep critical'],
    ['colibri board --html board.html', 'to look at in a browser'],
    [`colibri board --json | jq '.boards[].columns[] | {status, count}'`],
  ],
  exitCodes: PROJECT_EXIT_CODES,
  run: (options) =>
    options.html === undefined
      ? runReadCommand('board', options.json ?? false, (config) => showBoard(config, options))
      : reportResult('board', options.json ?? false, () => writeBoard(options)),
};

async function writeBoard({ html, json: _json, ...others }: BoardOptions): Promise<CommandResult> {
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new CommandError('bad input', `--html takes no --${other}: the page has every task`, {
      advice: 'filter in the page',
    });
  const out = html === undefined || html === true ? PAGE_FILE : html;
  return withReader({}, async (person) => {
    const size = (await person.read(readHead))?.size ?? 0;
    if (size > MAX_PAGE_ENTRIES)
      throw new CommandError('cannot tell', `a page of ${size} entries is too large for a browser`, {
        advice: 'run colibri export --since 7d --html --out FILE',
      });
    return makeBundle(person, { scope: { kind: 'ledger' }, out, redact: false, page: 'board', replaces: true });
  });
}

async function showBoard(config: Config, options: BoardOptions): Promise<number> {
  const { watch = false, width, json = false } = options;
  const isFiltered = Object.values(filtersOf(options)).some((value) => value !== undefined);
  await withDatabase(config, (database) =>
    showView(
      database,
      {
        read: () => {
          const context = { liveness: database, at: new Date().toISOString(), ttlMs: config.claimTtlMs };
          return database.read((reader) => readView(reader, config, options, context));
        },
        render: (view) => {
          const terminal = findTerminal(width);
          if (view.boards.length === 0) return wrapProse(describeEmpty(config), terminal.width);
          return isFiltered && view.boards.every(isEmpty)
            ? ['No task matches.']
            : renderBoards(view, terminal, Date.now());
        },
        json,
      },
      watch,
    ),
  );
  return 0;
}

function isEmpty({ columns }: Board): boolean {
  return columns.every(({ count }) => count === 0);
}

async function readView(
  reader: Reader,
  config: Config,
  options: BoardOptions,
  context: ClaimContext,
): Promise<BoardsView> {
  const { limit = CARDS_PER_COLUMN } = options;
  const projects = await chooseProjects(reader, config, options);
  const boards: Board[] = [];
  for (const project of projects)
    boards.push(...(await readBoards(reader, { ...filtersOf(options), project, limit }, context)));
  const others = (await listProjects(reader)).filter((name) => !projects.includes(name));
  return { boards, other_projects: others };
}
