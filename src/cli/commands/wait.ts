import { InvalidArgumentError, Option } from 'commander';
import { type Config, locateDatabase } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import type { ClaimContext } from '../../domains/tasks/claims/holder.ts';
import { findTask } from '../../domains/tasks/repository.ts';
import { isCancelled, isOpen } from '../../domains/tasks/workflows.ts';
import { printError } from '../../print-error.ts';
import { describeDurations, formatDuration, limitDays, parseDuration } from '../../text/duration.ts';
import type { CliCommand } from '../support/command.ts';
import { ALL_OPTION, JSON_OPTION, PROJECT_OPTION } from '../support/options.ts';
import { print, printJson } from '../support/print.ts';
import { READ_EXIT_CODES, runReadCommand } from '../support/read-command.ts';
import { parseTaskId, taskNotFound } from '../support/task-argument.ts';
import { isMissing, withDatabase } from '../support/with-ledger.ts';
import { CONDITION_NAMES, type Condition, findMeeting } from '../watch/wait-conditions.ts';
import { whenCreated } from '../watch/when-created.ts';
import { whenFound } from '../watch/when-found.ts';

const CANCELLED = 1;
const TIMED_OUT = 75;
/** Timers of Node cannot wait longer than 24.8 days. */
const MAX_TIMEOUT = limitDays(24);

type Awaited = Condition | { readonly taskId: string };

interface WaitOptions {
  readonly for: Awaited;
  readonly timeout?: number;
  readonly project?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** The task that ended the wait. */
interface Met {
  readonly task_id: string;
  readonly project: string;
  readonly status: string;
  readonly title: string;
}

export const wait: CliCommand<WaitOptions> = {
  name: 'wait',
  summary: 'wait until a task is ready, in review or finished, for scripts',
  options: [
    new Option('--for <condition>', `${CONDITION_NAMES.join(', ')}, or the id of a task that must be finished`)
      .argParser(parseCondition)
      .makeOptionMandatory(),
    new Option(
      '--timeout <duration>',
      `give up after this time: ${describeDurations(MAX_TIMEOUT)} (default: never)`,
    ).argParser(parseTimeout),
    PROJECT_OPTION,
    ALL_OPTION,
    JSON_OPTION,
  ],
  details: [
    'Prints one line when the condition holds, which may be at once: the task, its status and its title. Does not claim the task: of several scripts that wait for the same task, all return.',
    'ready: task_next_actions offers a free task. lapsed: it offers a task whose holder has been silent too long (COLIBRI_CLAIM_TTL). review: a task is in review (board) or VERIFY (pipeline). T-0042: the task is done.',
    'Costs little while it waits: it reads one row when the file changes and every 2 s (SQLite) or every 500 ms (PostgreSQL), and looks for the task only if the log has grown; for lapsed, every 2 s.',
    'ready, lapsed and review look at the active project (COLIBRI_PROJECT) unless --project or --all is given. The project need not exist yet, and neither does the ledger.',
  ],
  examples: [
    ['colibri wait --for ready && claude -p "work on the next Colibri task"'],
    ['colibri wait --for T-0042 --timeout 30m || echo "not done yet"'],
    ['colibri wait --for review --all --json | jq -r .task_id'],
  ],
  exitCodes: {
    ...READ_EXIT_CODES,
    0: 'the condition holds',
    1: 'no such task, or it was cancelled',
    75: 'timed out',
  },
  run: (options) =>
    runReadCommand('wait', options.json ?? false, (config) => waitFor(config, options), { awaitsLedger: true }),
};

async function waitFor(found: Config, options: WaitOptions): Promise<number> {
  const { timeout, json = false } = options;
  const timedOut = timeout === undefined ? new AbortController().signal : AbortSignal.timeout(timeout);
  if (isMissing(found)) printError(`colibri wait: no ledger at ${locateDatabase(found)} yet; waiting for one`);
  const config = await whenCreated(found, timedOut);
  if (config === undefined) return reportTimeout('there is no ledger', timeout ?? 0, json);
  const project = options.all ? undefined : (options.project ?? config.project);
  const met = await withDatabase(config, (database) =>
    whenFound(database, timedOut, {
      find: (reader) => {
        const context = { liveness: database, at: new Date().toISOString(), ttlMs: config.claimTtlMs };
        return findMet(reader, options.for, project, context);
      },
      dependsOnTime: options.for === 'lapsed',
    }),
  );
  if (met === undefined) return reportTimeout(stateOf(options.for), timeout ?? 0, json);
  if (json) printJson({ ...met, timed_out: false });
  else print(`${met.task_id} ${met.status}: ${met.title}`);
  return isCancelled(met.status) ? CANCELLED : 0;
}

async function findMet(
  reader: Reader,
  awaited: Awaited,
  project: string | undefined,
  context: ClaimContext,
): Promise<Met | undefined> {
  const taskId = typeof awaited === 'object' ? awaited.taskId : await findMeeting(reader, awaited, project, context);
  if (taskId === undefined) return undefined;
  const task = await findTask(reader, taskId);
  if (task === undefined) throw await taskNotFound(reader, taskId);
  if (typeof awaited === 'object' && isOpen(task.status)) return undefined;
  return { task_id: taskId, project: task.project, status: task.status, title: task.title };
}

function stateOf(awaited: Awaited): string {
  const states: Record<Condition, string> = {
    ready: 'no task is ready',
    lapsed: 'no claim has lapsed',
    review: 'no task is in review',
  };
  return typeof awaited === 'object' ? `${awaited.taskId} is not finished` : states[awaited];
}

function reportTimeout(state: string, timeoutMs: number, json: boolean): number {
  if (json) printJson({ timed_out: true });
  else printError(`colibri wait: timed out after ${formatDuration(timeoutMs)}: ${state}`);
  return TIMED_OUT;
}

function parseCondition(text: string): Awaited {
  const named = CONDITION_NAMES.find((name) => name === text);
  if (named !== undefined) return named;
  if (/\d/.test(text)) return { taskId: parseTaskId(text) };
  throw new InvalidArgumentError(`Use ${CONDITION_NAMES.join(', ')}, or the id of a task (T-0042).`);
}

function parseTimeout(text: string): number {
  const timeoutMs = parseDuration(text, MAX_TIMEOUT);
  if (timeoutMs !== undefined) return timeoutMs;
  throw new InvalidArgumentError(`Use ${describeDurations(MAX_TIMEOUT)}.`);
}
