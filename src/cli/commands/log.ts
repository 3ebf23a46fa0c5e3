import { Option } from 'commander';
import type { Config } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { findTask } from '../../domains/tasks/repository.ts';
import {
  type CallConditions,
  findFirstSince,
  findLastIndex,
  listCallsByNumber,
  scanCalls,
} from '../../ledger/calls/scan.ts';
import { printError } from '../../print-error.ts';
import { TOOL_NAMES } from '../../recorder/clients/colibri-call.ts';
import { callsOfTask, createEvidenceFinder, createTaskFinder, type LoggedCall } from '../query/call-task.ts';
import { parseSince } from '../query/since.ts';
import type { CliCommand } from '../support/command.ts';
import { countOption, JSON_OPTION, UTC_OPTION, WIDTH_OPTION } from '../support/options.ts';
import { print, printJson, whenTaken } from '../support/print.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { parseTaskId, taskNotFound } from '../support/task-argument.ts';
import { type ReadableLedger, withDatabase } from '../support/with-ledger.ts';
import { createCallView } from '../views/log.ts';
import { findTerminal } from '../views/terminal.ts';
import { abortOnSignals, openLedgerChanges } from '../watch/ledger-changes.ts';

const DEFAULT_COUNT = 20;

interface LogOptions {
  readonly count?: number;
  readonly task?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly since?: string;
  readonly follow?: boolean;
  readonly utc?: boolean;
  readonly width?: number;
  readonly json?: boolean;
}

export const log: CliCommand<LogOptions> = {
  name: 'log',
  summary: 'list the tool calls of the agents; --follow streams new ones',
  options: [
    countOption('-n, --count <calls>', 'show this many of the last calls', DEFAULT_COUNT),
    new Option('--task <task>', 'only calls about this task').argParser(parseTaskId),
    new Option('--agent <name>', 'only calls of this agent or person'),
    new Option('--tool <name>', 'only calls of this tool'),
    new Option('--since <time>', 'only calls since then: 2h ago as "2h", or 2026-04-08T22:15').argParser((text) =>
      parseSince(text, Date.now()),
    ),
    new Option('-f, --follow', 'stream new calls until Ctrl-C'),
    UTC_OPTION,
    WIDTH_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Prints one line per call: its number in the ledger, local time, agent, task, tool, outcome, duration, arguments. With --json, prints one JSON object per line, with times in UTC.',
    'A call that recorded a decision also shows how many of the tests and commits that it names were observed, and how many are contradicted; --json has each.',
    'The task of a call is the one that it names or creates, or that of the session that it names.',
    'With --since, prints every call since then unless --count is given. A time without a zone is local; the log is searched as if its times were rising.',
    'With --follow, prints a running call immediately, and again when it has ended.',
  ],
  examples: [
    ['colibri log -n 50'],
    ['colibri log --task 42 --since 2d'],
    ['colibri log --agent claude-code --follow'],
    [`colibri log --follow --json | jq -r 'select(.outcome != "ok") | .tool'`],
  ],
  exitCodes: { ...READ_EXIT_CODES, 1: 'no such task' },
  run: (options) => runReadCommand('log', options.json ?? false, (config) => showLog(config, options)),
};

async function showLog(config: Config, options: LogOptions): Promise<number> {
  const { follow = false, utc = false, width, json = false } = options;
  const terminal = findTerminal(width);
  // Installed before the first line is printed: a reader of that line may already send a signal.
  const interrupted = follow ? abortOnSignals() : undefined;
  const render = createCallView(terminal, utc);
  const show = (call: LoggedCall) => (json ? printJson(call) : print(render(call)));
  await withDatabase(config, async (database) => {
    const shown = await database.read((reader) => showPast(reader, options, show));
    if (shown.count === 0) warnOfUnknownTool(options.tool);
    if (interrupted) await followCalls(database, options, shown, show, interrupted);
    else if (shown.count === 0 && !json) print(shown.last > 0 ? NO_MATCH : NO_CALL);
  });
  return 0;
}

/** Not refused, because calls of other names are recorded too. */
function warnOfUnknownTool(tool: string | undefined): void {
  if (tool !== undefined && !TOOL_NAMES.has(tool))
    printError(`colibri log: there is no tool ${tool}; choose one of ${[...TOOL_NAMES].join(', ')}`);
}

const NO_MATCH = 'No call matches.';
const NO_CALL = 'No agent has called a tool yet. Run colibri init to connect one.';

/** What was printed before new calls are followed. */
interface Shown {
  readonly count: number;
  /** Later entries have not been looked at. */
  readonly last: number;
  readonly running: ReadonlySet<number>;
}

async function showPast(db: Reader, options: LogOptions, show: (call: LoggedCall) => void): Promise<Shown> {
  const { since, task, count = since === undefined ? DEFAULT_COUNT : undefined } = options;
  const to = await findLastIndex(db);
  const { from: created = 0, ...ofTask } = task === undefined ? {} : await conditionsOfTask(db, task);
  const conditions: CallConditions = { ...ofTask, actor: options.agent, tool: options.tool };
  const from = Math.max(created, since === undefined ? 0 : await findFirstSince(db, since, to + 1));
  const direction = count === undefined ? 'forward' : 'backward';
  const findTaskOf = createTaskFinder(db);
  const findEvidence = createEvidenceFinder(db);
  const running = new Set<number>();
  const newest: LoggedCall[] = [];
  let found = 0;
  for await (const scanned of scanCalls(db, conditions, { from, to, direction })) {
    const call = await findTaskOf(scanned);
    if (!isWanted(call, options)) continue;
    found += 1;
    if (isRunning(call)) running.add(call.sequence_no);
    const compared = await findEvidence(call);
    if (count === undefined) {
      show(compared);
      // A slow reader must not make the whole log wait in memory.
      await whenTaken();
    } else newest.push(compared);
    if (found === count) break;
  }
  for (const call of newest.reverse()) show(call);
  return { count: found, last: to, running };
}

async function conditionsOfTask(db: Reader, taskId: string): Promise<CallConditions & { readonly from: number }> {
  if ((await findTask(db, taskId)) === undefined) throw await taskNotFound(db, taskId);
  return callsOfTask(db, taskId);
}

/** Prints new calls until a signal arrives. */
async function followCalls(
  database: ReadableLedger,
  options: LogOptions,
  shown: Shown,
  show: (call: LoggedCall) => void,
  interrupted: AbortSignal,
): Promise<void> {
  let { last } = shown;
  const running = new Set(shown.running);
  const changes = openLedgerChanges(database, interrupted);
  try {
    while (!interrupted.aborted) {
      await database.read(async (db) => {
        const findTaskOf = createTaskFinder(db);
        const findEvidence = createEvidenceFinder(db);
        const report = async (call: LoggedCall) => {
          if (isWanted(call, options)) show(await findEvidence(call));
        };
        for (const scanned of await listCallsByNumber(db, [...running])) {
          if (isRunning(scanned)) continue;
          running.delete(scanned.sequence_no);
          await report(await findTaskOf(scanned));
        }
        const to = await findLastIndex(db);
        for await (const scanned of scanCalls(db, {}, { from: last + 1, to, direction: 'forward' })) {
          // A running call may turn out to be wanted: what it creates is not known yet.
          if (isRunning(scanned)) running.add(scanned.sequence_no);
          await report(await findTaskOf(scanned));
        }
        last = to;
      });
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

function isWanted({ actor, tool, task_id }: LoggedCall, options: LogOptions): boolean {
  const { agent = actor, tool: wanted = tool, task = task_id } = options;
  return actor === agent && tool === wanted && task_id === task;
}

function isRunning({ outcome }: { readonly outcome: string }): boolean {
  return outcome === 'running';
}
