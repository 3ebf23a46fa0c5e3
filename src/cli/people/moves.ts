import { Argument, type Option } from 'commander';
import type { Task } from '../../domains/tasks/record.ts';
import { findTask } from '../../domains/tasks/repository.ts';
import { isHeldStatus, workflowOf } from '../../domains/tasks/workflows.ts';
import type { CliCommand, Example } from '../support/command.ts';
import { TASK_ARGUMENT } from '../support/task-argument.ts';
import type { PersonOptions } from './open-person.ts';
import {
  callOrRefuse,
  entryNote,
  FORCE_OPTION,
  listWarnings,
  PERSON_OPTIONS,
  runPersonCommand,
  WRITE_EXIT_CODES,
} from './run-person.ts';
import { readOptionalText } from './text-argument.ts';

/** The commands that move a task along its workflow: each is one task_update. */

interface MoveOptions extends PersonOptions {
  readonly force?: string;
}

interface Moved {
  readonly status: string;
  readonly previous_status?: string;
  readonly holder?: string;
}

/** "todo -> in_progress, held by person:ada" */
export function describeMove(data: object): string {
  const { previous_status: before, status, holder } = data as Moved;
  const step = before === undefined ? status : `${before} -> ${status}`;
  return holder === undefined ? step : `${step}, held by ${holder}`;
}

interface Move {
  readonly name: string;
  readonly summary: string;
  readonly details: readonly string[];
  readonly examples: readonly Example[];
  /** The status in the workflow of the task; undefined stands for a task that does not exist. */
  readonly statusOf: (task: Task | undefined) => string;
  /** Fields that the command sets beside the status. */
  readonly fields?: object;
  /** Set if a reason is given after the task. */
  readonly reason?: Argument;
}

export const start = createMove({
  name: 'start',
  summary: 'claim a task and start it',
  details: ['You hold the task until it goes to review. The claim of a person never lapses.'],
  examples: [['colibri start 42'], ['colibri start 42 --force "the agent is gone"']],
  // A task that another actor has started is taken over where it is.
  statusOf: (task) =>
    task !== undefined && isHeldStatus(task.status) && task.status !== 'blocked'
      ? task.status
      : (workflowFor(task).started[0] ?? ''),
});

export const block = createMove({
  name: 'block',
  summary: 'mark a task as blocked, with the reason',
  details: ['Only tasks of the board workflow can be blocked. Run colibri start to unblock one.'],
  examples: [['colibri block 42 "waits for the API key"']],
  statusOf: () => 'blocked',
  reason: new Argument('<reason>', 'why it is blocked; - reads it from standard input'),
});

export const review = createMove({
  name: 'review',
  summary: 'bring a task to review, which ends the claim',
  details: ['In the pipeline workflow this is VERIFY.'],
  examples: [['colibri review 42']],
  statusOf: (task) => workflowFor(task).review,
});

export const done = createMove({
  name: 'done',
  summary: 'finish a task that is in review',
  details: [
    'A task needs a thought record that explains why it is done: run colibri note first.',
    'Where the project requires observed runs (see colibri project), --force "why" finishes a task without them.',
  ],
  examples: [['colibri note 42 "why" && colibri done 42'], ['colibri done 42 --force "tested by hand"']],
  statusOf: (task) => workflowFor(task).done,
  fields: { progress: 100 },
});

export const cancel = createMove({
  name: 'cancel',
  summary: 'cancel a task',
  details: [],
  examples: [['colibri cancel 42'], ['colibri cancel 42 --force "no longer needed"']],
  statusOf: (task) => workflowFor(task).cancelled,
});

function workflowFor(task: Task | undefined) {
  return workflowOf(task?.workflow ?? 'board');
}

function createMove({
  name,
  summary,
  details,
  examples,
  statusOf,
  fields,
  reason,
}: Move): CliCommand<MoveOptions, string> {
  const options: Option[] = [FORCE_OPTION, ...PERSON_OPTIONS];
  return {
    name,
    summary,
    argument: TASK_ARGUMENT,
    ...(reason === undefined ? {} : { secondArgument: reason }),
    options,
    details,
    examples,
    exitCodes: WRITE_EXIT_CODES,
    run: (given, taskId, second) =>
      runPersonCommand(name, given, async (person) => {
        const blocked_reason = await readOptionalText(second);
        const task = await person.read((reader) => findTask(reader, taskId));
        const input = {
          task_id: taskId,
          status: statusOf(task),
          ...fields,
          ...(blocked_reason === undefined ? {} : { blocked_reason }),
        };
        const call = await callOrRefuse(person, name, 'task_update', input, given.force);
        return { call, lines: [`${taskId} ${describeMove(call.data)}${entryNote(call)}`, ...listWarnings(call.data)] };
      }),
  };
}
