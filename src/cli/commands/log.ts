import type { Command } from 'commander';
import type { Reader } from '../../db/database.ts';
import { type Action, findAction, listActionsAfter, listLastActions } from '../../ledger/calls/actions.ts';
import { print, printJson } from '../support/print.ts';
import { EXIT_CODES, parseCount, showFromLedger } from '../support/read-command.ts';
import { withDatabase } from '../support/with-ledger.ts';
import { findTerminal, parseWidth, shortTime, type Terminal } from '../views/terminal.ts';
import { cut, displayWidth, pad, printable } from '../views/text-width.ts';

const DEFAULT_COUNT = 20;
const POLL_MS = 200;
const PAGE = 1000;

interface LogOptions {
  readonly count?: number;
  readonly follow?: boolean;
  readonly width?: number;
  readonly json?: boolean;
}

const MORE = `
One line for each call of a tool: its number in the ledger, time (UTC), who, tool, outcome, duration, arguments.
With --follow a call that is still running is shown at once, and again when it has ended.

Examples:
  colibri log -n 50
  colibri log --follow
  colibri log --follow --json | jq -r 'select(.outcome != "ok") | .tool'

Exit codes: ${EXIT_CODES}.`;

export function addLog(program: Command): void {
  program
    .command('log')
    .description('the calls of the agents, as they happen')
    .option('-n, --count <calls>', `how many of the last calls (default: ${DEFAULT_COUNT})`, parseCount)
    .option('-f, --follow', 'go on with those that come, until Ctrl-C')
    .option('--width <columns>', "cut lines to this width (default: the terminal's)", parseWidth)
    .option('--json', 'one JSON object on each line')
    .addHelpText('after', MORE)
    .action((options: LogOptions) => showFromLedger('log', options.json ?? false, () => showLog(options)));
}

async function showLog({ count = DEFAULT_COUNT, follow = false, width, json = false }: LogOptions): Promise<number> {
  const terminal = findTerminal(width);
  // From before the first line: whoever has seen that may end it.
  const interrupted = follow ? abortOnSignals() : undefined;
  const show = (action: Action) => (json ? printJson(action) : print(renderAction(action, terminal)));
  await withDatabase(async (database) => {
    const last = await database.read((reader) => listLastActions(reader, count));
    for (const action of last) show(action);
    if (interrupted) await followActions((work) => database.read(work), last, show, interrupted);
    else if (last.length === 0 && !json) print('No agent has called a tool yet. To connect one: colibri init');
  });
  return 0;
}

function abortOnSignals(): AbortSignal {
  const interrupted = new AbortController();
  const stop = () => interrupted.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return interrupted.signal;
}

/** Looks again and again until the person has seen enough. */
async function followActions(
  read: <Result>(work: (reader: Reader) => Promise<Result>) => Promise<Result>,
  shown: readonly Action[],
  show: (action: Action) => void,
  interrupted: AbortSignal,
): Promise<void> {
  let last = shown.at(-1)?.sequence_no ?? -1;
  const running = new Set(shown.filter(isRunning).map(({ sequence_no }) => sequence_no));
  while (!interrupted.aborted) {
    const news = await read(async (reader) => {
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
    if (news.length < PAGE) await pause(interrupted);
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, POLL_MS);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

function isRunning({ outcome }: Action): boolean {
  return outcome === 'running';
}

const ACTOR_WIDTH = 14;
const TOOL_WIDTH = 19;
/** From here on a line has room for columns, and from here on for the date as well. */
const ALIGNED_FROM = 60;
const DATED_FROM = 100;

export function renderAction(action: Action, terminal: Terminal): string {
  const { width = Number.POSITIVE_INFINITY, colors } = terminal;
  const { sequence_no, entered_at, actor, tool, outcome, duration_ms } = action;
  const { dim, cyan } = colors;
  const time = shortTime(entered_at);
  const align = (text: string, columnWidth: number) => (width < ALIGNED_FROM ? text : pad(text, columnWidth));
  const cells: [string, (text: string) => string][] = [
    [`#${sequence_no}`.padStart(6), dim],
    [width < DATED_FROM ? time.slice(11, 19) : time, dim],
    [align(printable(actor), ACTOR_WIDTH), cyan],
    [align(printable(tool), TOOL_WIDTH), String],
    [printable(outcome), outcomePaint(outcome, colors)],
    [duration_ms === null ? '' : `${duration_ms} ms`, dim],
    [printable(action.arguments), dim],
  ];
  let room = width;
  let line = '';
  for (const [text, paint] of cells) {
    if (text.trim() === '' || room < 1) continue;
    const shown = cut(text, room);
    line += `${paint(shown)} `;
    room -= displayWidth(shown) + 1;
  }
  return line.trimEnd();
}

function outcomePaint(outcome: string, { green, yellow, red }: Terminal['colors']): (text: string) => string {
  if (outcome === 'ok') return green;
  return outcome === 'running' ? yellow : red;
}
