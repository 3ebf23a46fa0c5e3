import { type Command, InvalidArgumentError } from 'commander';
import type { Reader } from '../../db/database.ts';
import { findLastTaskId } from '../../domains/tasks/board.ts';
import { findTask, listChildren, listUnmet } from '../../domains/tasks/repository.ts';
import { listThoughts, type ThoughtRow } from '../../domains/trail/repository.ts';
import { listTaskSessions } from '../../domains/trail/task-sessions.ts';
import { ColibriError } from '../../errors.ts';
import { formatTaskId, parseId } from '../../ids.ts';
import { readHistory } from '../../verification/task-history.ts';
import { verifyTaskChain } from '../../verification/verify-chain.ts';
import { print, printJson } from '../support/print.ts';
import { showFromLedger } from '../support/read-command.ts';
import { withLedger } from '../support/with-ledger.ts';
import { renderTask } from '../views/show.ts';
import { describeSession, describeThought, type Shown } from '../views/show-data.ts';
import { findTerminal, parseWidth } from '../views/terminal.ts';

const MAX_CHILDREN = 100;
const PAGE = 500;
const TAMPERED = 4;

interface ShowOptions {
  readonly width?: number;
  readonly json?: boolean;
}

const MORE = `
The id may be spelled as it comes: T-0042, t-42 or 42.

Examples:
  colibri show 42
  colibri show t-42 --json | jq .verdict

Exit codes: 0 shown and whole, 1 no such task, 2 no ledger or one that cannot be read, 3 wrong configuration,
            4 shown, but its record does not verify, 64 usage.`;

export function addShow(program: Command): void {
  program
    .command('show')
    .description('one task: its fields, decisions, sessions and history, and whether they verify')
    .argument('<task>', 'its id', parseTaskId)
    .option('--width <columns>', "wrap text at this width (default: the terminal's)", parseWidth)
    .option('--json', 'print it as JSON')
    .addHelpText('after', MORE)
    .action((taskId: string, options: ShowOptions) =>
      showFromLedger('show', options.json ?? false, () => showTask(taskId, options)),
    );
}

/** Forgives what people leave out. */
export function parseTaskId(text: string): string {
  const digits = /^(?:t-?)?0*([1-9]\d{0,11})$/i.exec(text.trim())?.[1];
  if (digits === undefined) throw new InvalidArgumentError('A task is named T-0042, t-42 or 42.');
  return formatTaskId(Number(digits));
}

async function showTask(taskId: string, { width, json }: ShowOptions): Promise<number> {
  const shown = await withLedger((reader) => readTask(reader, taskId));
  if (json) printJson(shown);
  else print(renderTask(shown, findTerminal(width)));
  return shown.verdict === 'whole' ? 0 : TAMPERED;
}

async function readTask(reader: Reader, taskId: string): Promise<Shown> {
  const task = await findTask(reader, taskId);
  if (task === undefined) throw await unknownTask(reader, taskId);
  const taskNo = parseId(taskId);
  const chain = await verifyTaskChain(reader, taskNo, { withTrace: false, progress: () => undefined });
  const history = await readHistory(reader, task);
  const joined = [...new Set(history.events.flatMap(({ sessions }) => sessions))];
  const problems = [...chain.broken.map(({ record, problem }) => ({ record, problem })), ...history.problems];
  return {
    task,
    waits_for: await listUnmet(reader, taskNo),
    children: await listChildren(reader, taskNo, MAX_CHILDREN),
    thoughts: (await listAllThoughts(reader, taskId)).map(describeThought),
    sessions: (await listTaskSessions(reader, taskNo, joined)).map(describeSession),
    events: history.events,
    verdict: problems.length === 0 ? 'whole' : 'tampered',
    problems,
  };
}

async function listAllThoughts(reader: Reader, taskId: string): Promise<ThoughtRow[]> {
  const all: ThoughtRow[] = [];
  for (;;) {
    const page = { task_id: taskId, limit: PAGE, offset: all.length, verify_chain: false };
    const { rows } = await listThoughts(reader, page);
    all.push(...rows);
    if (rows.length < PAGE) return all;
  }
}

async function unknownTask(reader: Reader, taskId: string): Promise<ColibriError> {
  const last = await findLastTaskId(reader);
  const hint =
    last === undefined
      ? 'the ledger is empty: nobody has created a task yet'
      : `the last one is ${last}; colibri board shows them`;
  return new ColibriError('ERR_NOT_FOUND', `there is no task ${taskId}; ${hint}`, { taskId });
}
