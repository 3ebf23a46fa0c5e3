import { Argument, Option } from 'commander';
import { WORKFLOW_NAMES } from '../../config.ts';
import type { CliCommand } from '../support/command.ts';
import { PROJECT_OPTION } from '../support/options.ts';
import type { PersonOptions } from './open-person.ts';
import { callOrRefuse, entryNote, PERSON_OPTIONS, runPersonCommand, WRITE_EXIT_CODES } from './run-person.ts';
import { TASK_OPTIONS, type TaskOptions, taskInput } from './task-options.ts';
import { readText } from './text-argument.ts';

interface AddOptions extends PersonOptions, TaskOptions {
  readonly project?: string;
  readonly workflow?: (typeof WORKFLOW_NAMES)[number];
}

export const add: CliCommand<AddOptions, string> = {
  name: 'add',
  summary: 'add a task',
  argument: new Argument('<title>', 'the title; - reads it from standard input'),
  options: [
    ...TASK_OPTIONS,
    new Option('--status <status>', 'first status: todo (default) or backlog'),
    new Option('--workflow <name>', 'board or pipeline (default: COLIBRI_WORKFLOW)').choices(WORKFLOW_NAMES),
    PROJECT_OPTION,
    ...PERSON_OPTIONS,
  ],
  details: [
    'The task is ready for agents at once; --status backlog keeps it from them. Creates the ledger if this project has none.',
  ],
  examples: [
    ['colibri add "Cache the parser" --priority high'],
    ['colibri add "Port the tests" --depends-on 41 --label tests'],
    ['git log -1 --format=%b | colibri add "Follow up" --description -'],
  ],
  exitCodes: WRITE_EXIT_CODES,
  run: (options, title) =>
    runPersonCommand(
      'add',
      options,
      async (person) => {
        const { project, workflow = person.config.workflow } = options;
        const input = {
          title: await readText(title),
          workflow,
          ...(project === undefined ? {} : { project }),
          ...(workflow === 'board' ? { status: 'todo' } : {}),
          ...(await taskInput(options)),
        };
        const call = await callOrRefuse(person, 'add', 'task_create', input);
        const { task_id, status } = call.data as { task_id: string; status: string };
        return { call, lines: [`${task_id} ${status}: ${input.title}${entryNote(call)}`] };
      },
      { createsLedger: true },
    ),
};
