import type { Command } from 'commander';
import { type Board, readBoards } from '../../domains/tasks/board.ts';
import { print, printJson } from '../support/print.ts';
import {
  chooseProjects,
  EMPTY,
  EXIT_CODES,
  parseCount,
  parseProject,
  showFromLedger,
} from '../support/read-command.ts';
import { withLedger } from '../support/with-ledger.ts';
import { renderBoards } from '../views/board.ts';
import { findTerminal, parseWidth } from '../views/terminal.ts';

const CARDS_PER_COLUMN = 8;

interface BoardOptions {
  readonly project?: string;
  readonly all?: boolean;
  readonly limit?: number;
  readonly width?: number;
  readonly json?: boolean;
}

const MORE = `
Without --project it is the active project (COLIBRI_PROJECT), or every project if that one has no tasks.
Ready and blocked tasks: the most urgent first. Elsewhere: those that changed last.

Examples:
  colibri board
  colibri board --project web --limit 20
  colibri board --all | grep critical
  colibri board --json | jq '.boards[].columns[] | {status, count}'

Exit codes: ${EXIT_CODES}.`;

export function addBoard(program: Command): void {
  program
    .command('board')
    .description('the tasks in columns: what is to do, who has what, what is stuck')
    .option('-p, --project <slug>', 'the project', parseProject)
    .option('-a, --all', 'every project')
    .option('-n, --limit <count>', `cards in each column (default: ${CARDS_PER_COLUMN})`, parseCount)
    .option('--width <columns>', "lay it out for this width (default: the terminal's)", parseWidth)
    .option('--json', 'print it as JSON')
    .addHelpText('after', MORE)
    .action((options: BoardOptions) => showFromLedger('board', options.json ?? false, () => showBoard(options)));
}

async function showBoard({ project, all, limit = CARDS_PER_COLUMN, width, json }: BoardOptions): Promise<number> {
  const boards = await withLedger(async (reader) => {
    const found: Board[] = [];
    for (const name of await chooseProjects(reader, project, all))
      found.push(...(await readBoards(reader, name, limit)));
    return found;
  });
  if (json) printJson({ boards });
  else print(boards.length === 0 ? EMPTY : renderBoards(boards, findTerminal(width)));
  return 0;
}
