import type { Config } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { type Board, listProjects, readBoards } from '../../domains/tasks/board.ts';
import type { ClaimContext } from '../../domains/tasks/claims/holder.ts';
import { FILTER_OPTIONS, filtersOf, type TaskFilters } from '../query/task-filters.ts';
import type { CliCommand } from '../support/command.ts';
import { countOption, JSON_OPTION, WATCH_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { chooseProjects, EMPTY, PROJECT_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { withDatabase } from '../support/with-ledger.ts';
import { type BoardsView, renderBoards } from '../views/board.ts';
import { findTerminal } from '../views/terminal.ts';
import { showView } from '../watch/live-view.ts';

const CARDS_PER_COLUMN = 8;

interface BoardOptions extends TaskFilters {
  readonly limit?: number;
  readonly watch?: boolean;
  readonly width?: number;
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
    JSON_OPTION,
  ],
  details: [
    'Without --project, shows the active project (COLIBRI_PROJECT), or every project if the active one has no tasks.',
    'Ready and blocked tasks are sorted by priority, tasks in other columns by their last change.',
    'The time beside the id is the time since the last change of the task. If an agent holds the task, the card has the time since the last call of that agent instead, and says when the claim has lapsed, so that another agent may take the task over.',
    '2/3 observed: the decisions of the task name three tests and commits, and the recorder has reported two of them. Contradicted ones are counted apart; colibri show has each.',
    'With --watch --json, prints one JSON object per line whenever something changed.',
  ],
  examples: [
    ['colibri board'],
    ['colibri board --watch'],
    ['colibri board --project web --assignee claude-code --status open'],
    ['colibri board --search "signing key" --limit 20'],
    ['colibri board --all | grep critical'],
    [`colibri board --json | jq '.boards[].columns[] | {status, count}'`],
  ],
  exitCodes: PROJECT_EXIT_CODES,
  run: (options) => runReadCommand('board', options.json ?? false, (config) => showBoard(config, options)),
};

async function showBoard(config: Config, options: BoardOptions): Promise<number> {
  const { watch = false, width, json = false } = options;
  await withDatabase(config, (database) =>
    showView(
      database,
      {
        read: () => {
          const context = { liveness: database, at: new Date().toISOString(), ttlMs: config.claimTtlMs };
          return database.read((reader) => readView(reader, config, options, context));
        },
        render: (view) => (view.boards.length === 0 ? EMPTY : renderBoards(view, findTerminal(width), Date.now())),
        json,
      },
      watch,
    ),
  );
  return 0;
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
