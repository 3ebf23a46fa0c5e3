import { Option } from 'commander';
import type { CliCommand } from '../support/command.ts';
import { CommandError } from '../support/command-result.ts';
import { TASK_ARGUMENT } from '../support/task-argument.ts';
import { describeMove } from './moves.ts';
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
import { parseNumber, TASK_OPTIONS, type TaskOptions, taskInput } from './task-options.ts';
import { readOptionalText } from './text-argument.ts';

interface EditOptions extends PersonOptions, TaskOptions {
  readonly title?: string;
  readonly progress?: number;
  readonly force?: string;
}

export const edit: CliCommand<EditOptions, string> = {
  name: 'edit',
  summary: 'change the fields of a task',
  argument: TASK_ARGUMENT,
  options: [
    new Option('--title <title>', 'a new title; - reads it from standard input'),
    ...TASK_OPTIONS,
    new Option('--status <status>', 'move it to this status'),
    new Option('--progress <percent>', 'from 0 to 100').argParser(parseNumber),
    FORCE_OPTION,
    ...PERSON_OPTIONS,
  ],
  details: [
    'Only the given fields change; an empty text clears a field. --label and --depends-on replace the whole list.',
    'While an agent holds the task, status, progress and assignee belong to it: --force overrides the claim.',
  ],
  examples: [
    ['colibri edit 42 --priority critical --assignee ""'],
    ['colibri edit 42 --description - < description.md'],
    ['colibri edit 42 --assignee codex --force "claude-code is stuck"'],
  ],
  exitCodes: WRITE_EXIT_CODES,
  run: (options, taskId) =>
    runPersonCommand('edit', options, async (person) => {
      const { progress, status } = options;
      if (status === 'blocked')
        throw new CommandError('bad input', 'a blocked task needs a reason', {
          advice: `run colibri block ${taskId} "why"`,
        });
      const title = await readOptionalText(options.title);
      const fields = {
        ...(title === undefined ? {} : { title }),
        ...(await taskInput(options)),
        ...(progress === undefined ? {} : { progress }),
      };
      const names = Object.keys(fields);
      if (names.length === 0)
        throw new CommandError('bad input', 'nothing to change', {
          advice: 'run colibri edit --help to see the fields',
        });
      const call = await callOrRefuse(person, 'edit', 'task_update', { task_id: taskId, ...fields }, options.force);
      const others = names.filter((name) => name !== 'status');
      const changes = [
        ...(status === undefined ? [] : [describeMove(call.data)]),
        ...(others.length === 0 ? [] : [`changed: ${others.join(', ')}`]),
      ];
      return { call, lines: [`${taskId} ${changes.join('; ')}${entryNote(call)}`, ...listWarnings(call.data)] };
    }),
};
