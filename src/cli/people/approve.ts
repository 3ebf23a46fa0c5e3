import { Argument } from 'commander';
import { findTokenedTask } from '../../domains/tasks/repository.ts';
import { readProjectOptions } from '../../domains/tasks/review/options.ts';
import { assertSignedOff } from '../../domains/tasks/review/sign-off.ts';
import { listCurrentRows } from '../../domains/tasks/versions.ts';
import { isOpen, workflowOf } from '../../domains/tasks/workflows.ts';
import { type ApprovalMetadata, approvalText } from '../../domains/trail/approval.ts';
import { ColibriError } from '../../errors.ts';
import { taskNumber } from '../../ids.ts';
import { printError } from '../../print-error.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError } from '../support/command-result.ts';
import { TASK_ARGUMENT } from '../support/task-argument.ts';
import { COMMIT_OPTION, recordThought } from './note.ts';
import type { Person, PersonOptions } from './open-person.ts';
import { PERSON_OPTIONS, runPersonCommand, WRITE_EXIT_CODES } from './run-person.ts';
import { readOptionalText } from './text-argument.ts';

interface ApproveOptions extends PersonOptions {
  readonly commit?: string;
}

export const approve: CliCommand<ApproveOptions, string> = {
  name: 'approve',
  summary: 'sign off a task that is in review or done',
  argument: TASK_ARGUMENT,
  secondArgument: new Argument('[text]', 'what you checked; - reads it from standard input'),
  options: [COMMIT_OPTION, ...PERSON_OPTIONS],
  details: [
    'Records who approved which version of the task, and which commit, in the trail of the task. With the project option review (see colibri project) a task cannot be done without it. An approval ends when the task is sent back or its title, description, parent or dependencies change. Without a text it is not a reason: done needs a note, too.',
  ],
  examples: [['colibri approve 42 --commit "$(git rev-parse HEAD)"'], ['colibri approve 42 "ran the migration twice"']],
  exitCodes: WRITE_EXIT_CODES,
  run: (options, taskId, text) =>
    runPersonCommand('approve', options, async (person) => {
      const given = await readOptionalText(text);
      const metadata = await describeApproval(person, taskId, options.commit);
      const { approval } = metadata;
      const what = `approved ${taskId} as of entry ${approval.version}`;
      const commit = options.commit === undefined ? {} : { commit_sha: options.commit };
      const content = given ?? approvalText(taskId, approval);
      const input = { task_id: taskId, type: 'decision', content, ...commit, metadata };
      const recorded = await recordThought(person, 'approve', input, what);
      await warnIfNotEnough(person, taskId);
      return recorded;
    }),
};

/** Not refused: it is recorded who looked at the task, and the policy may change. */
async function warnIfNotEnough(person: Person, taskId: string): Promise<void> {
  const problem = await person.read(async (reader) => {
    const task = (await findTokenedTask(reader, taskId))?.task;
    if (task === undefined || !isOpen(task.status)) return undefined;
    try {
      const options = await readProjectOptions(reader, task.project);
      await assertSignedOff(reader, { before: task, after: task, actor: person.actor }, options);
      return undefined;
    } catch (error) {
      if (error instanceof ColibriError) return error.problem;
      throw error;
    }
  });
  if (problem !== undefined) printError(`Warning: this approval is not enough: ${problem}.`);
}

/** From these a task goes to review. */
const UNDER_WORK: ReadonlySet<string> = new Set(['in_progress', 'APPLY']);

/** Names what is approved. A task that does not exist is left to the tool, which refuses and records it. */
async function describeApproval(person: Person, taskId: string, commit?: string): Promise<ApprovalMetadata> {
  const found = await person.read(async (reader) => {
    const task = await findTokenedTask(reader, taskId);
    const [row] = await listCurrentRows(reader, [taskNumber(taskId)]);
    return task && row && { ...task, version: row.event_idx };
  });
  if (found === undefined) return { approval: { version: 0 } };
  const { task, token, version } = found;
  const { review, done } = workflowOf(task.workflow);
  if (![review, done].includes(task.status))
    throw new CommandError('refused', `${taskId} is ${task.status}, not in ${review}`, {
      advice: `run colibri ${UNDER_WORK.has(task.status) ? `review ${taskId} first` : `show ${taskId}`}, or colibri note ${taskId} to record a remark`,
    });
  return {
    approval: { version, ...(token === null ? {} : { claim: token }), ...(commit === undefined ? {} : { commit }) },
  };
}
