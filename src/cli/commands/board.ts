import type { Config } from '../../config.ts';
import { type Board, readBoards } from '../../domains/tasks/board.ts';
import type { CliCommand } from '../support/command.ts';
import { ALL_OPTION, countOption, JSON_OPTION, PROJECT_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson } from '../support/print.ts';
import { chooseProjects, EMPTY, PROJECT_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { withLedger } from '../support/with-ledger.ts';
import { renderBoards } from '../views/board.ts';
import { findTerminal } from '../views/terminal.ts';

const CARDS_PER_COLUMN = 8;

interface BoardOptions {
  readonly project?: string;
  readonly all?: boolean;
  readonly limit?: number;
  readonly width?: number;
  readonly json?: boolean;
}

export const board: CliCommand<BoardOptions> = {
  name: 'board',
  summary: 'show tasks in columns: what is ready, who holds what, what is blocked',
  options: [
    PROJECT_OPTION,
    ALL_OPTION,
    countOption('-n, --limit <count>', 'show this many cards per column', CARDS_PER_COLUMN),
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Without --project, shows the active project (COLIBRI_PROJECT), or every project if the active one has no tasks.',
    'Ready and blocked tasks are sorted by priority, tasks in other columns by their last change.',
  ],
  examples: [
    ['colibri board'],
    ['colibri board --project web --limit 20'],
    ['colibri board --all | grep critical'],
    [`colibri board --json | jq '.boards[].columns[] | {status, count}'`],
  ],
  exitCodes: PROJECT_EXIT_CODES,
  run: (options) => runReadCommand('board', options.json ?? false, (config) => showBoard(config, options)),
};

async function showBoard(config: Config, options: BoardOptions): Promise<number> {
  const { limit = CARDS_PER_COLUMN, width, json } = options;
  const boards = await withLedger(config, async (reader) => {
    const found: Board[] = [];
    for (const name of await chooseProjects(reader, config, options))
      found.push(...(await readBoards(reader, name, limit)));
    return found;
  });
  if (json) printJson({ boards });
  else print(boards.length === 0 ? EMPTY : renderBoards(boards, findTerminal(width)));
  return 0;
}
