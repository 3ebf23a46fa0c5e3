import { Option } from 'commander';
import type { Config } from '../../config.ts';
import { type Action, findAction, listActionsAfter, listLastActions } from '../../ledger/calls/actions.ts';
import type { CliCommand } from '../support/command.ts';
import { countOption, JSON_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson } from '../support/print.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { type ReadableLedger, withDatabase } from '../support/with-ledger.ts';
import { renderAction } from '../views/log.ts';
import { findTerminal } from '../views/terminal.ts';
import { abortOnSignals, openLedgerChanges } from '../watch/ledger-changes.ts';

const DEFAULT_COUNT = 20;
const PAGE = 1000;

interface LogOptions {
  readonly count?: number;
  readonly follow?: boolean;
  readonly width?: number;
  readonly json?: boolean;
}

export const log: CliCommand<LogOptions> = {
  name: 'log',
  summary: 'list the tool calls of the agents; --follow streams new ones',
  options: [
    countOption('-n, --count <calls>', 'show this many of the last calls', DEFAULT_COUNT),
    new Option('-f, --follow', 'stream new calls until Ctrl-C'),
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Prints one line per call: its number in the ledger, time (UTC), actor, tool, outcome, duration, arguments. With --json, prints one JSON object per line.',
    'With --follow, prints a running call immediately, and again when it has ended.',
  ],
  examples: [
    ['colibri log -n 50'],
    ['colibri log --follow'],
    [`colibri log --follow --json | jq -r 'select(.outcome != "ok") | .tool'`],
  ],
  exitCodes: READ_EXIT_CODES,
  run: (options) => runReadCommand('log', options.json ?? false, (config) => showLog(config, options)),
};

async function showLog(config: Config, options: LogOptions): Promise<number> {
  const { count = DEFAULT_COUNT, follow = false, width, json = false } = options;
  const terminal = findTerminal(width);
  // Installed before the first line is printed: a reader of that line may already send a signal.
  const interrupted = follow ? abortOnSignals() : undefined;
  const show = (action: Action) => (json ? printJson(action) : print(renderAction(action, terminal)));
  await withDatabase(config, async (database) => {
    const last = await database.read((reader) => listLastActions(reader, count));
    for (const action of last) show(action);
    if (interrupted) await followActions(database, last, show, interrupted);
    else if (last.length === 0 && !json) print('No agent has called a tool yet. Run colibri init to connect one.');
  });
  return 0;
}

/** Prints new calls until a signal arrives. */
async function followActions(
  database: ReadableLedger,
  shown: readonly Action[],
  show: (action: Action) => void,
  interrupted: AbortSignal,
): Promise<void> {
  let last = shown.at(-1)?.sequence_no ?? -1;
  const running = new Set(shown.filter(isRunning).map(({ sequence_no }) => sequence_no));
  const changes = openLedgerChanges(database, interrupted);
  while (!interrupted.aborted) {
    const news = await database.read(async (reader) => {
      const ended = await Promise.all([...running].map((sequenceNo) => findAction(reader, sequenceNo)));
      const known = ended.filter((action) => action !== undefined && !isRunning(action)) as Action[];
      return [...known, ...(await listActionsAfter(reader, last, PAGE))];
    });
    for (const action of news) {
      show(action);
      last = Math.max(last, action.sequence_no);
      if (isRunning(action)) running.add(action.sequence_no);
      else running.delete(action.sequence_no);
    }
    if (news.length < PAGE) await changes.next();
  }
  changes.close();
}

function isRunning({ outcome }: Action): boolean {
  return outcome === 'running';
}
