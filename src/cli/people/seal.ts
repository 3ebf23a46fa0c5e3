import { Argument, InvalidArgumentError } from 'commander';
import { findTask } from '../../domains/tasks/repository.ts';
import { findLiveSession } from '../../domains/trail/sessions.ts';
import { formatSessionId, taskNumber } from '../../ids.ts';
import type { CliCommand } from '../support/command.ts';
import { CommandError } from '../support/command-result.ts';
import { findSessionId, parseTaskId } from '../support/task-argument.ts';
import type { Person, PersonOptions } from './open-person.ts';
import { callOrRefuse, entryNote, PERSON_OPTIONS, runPersonCommand, WRITE_EXIT_CODES } from './run-person.ts';

export const seal: CliCommand<PersonOptions, string> = {
  name: 'seal',
  summary: 'seal a session: freeze its Merkle root',
  argument: new Argument('<session>', 'the id of the session, A-0007, or of a task with a live one').argParser(
    parseTarget,
  ),
  options: [...PERSON_OPTIONS],
  details: ['A sealed session accepts no more records; run colibri note to open a new one.'],
  examples: [['colibri seal A-7'], ['colibri seal t-42', 'the live session of the task']],
  exitCodes: WRITE_EXIT_CODES,
  run: (options, target) =>
    runPersonCommand('seal', options, async (person) => {
      const session_id = target.startsWith('T-') ? await findSessionOf(person, target) : target;
      const call = await callOrRefuse(person, 'seal', 'merkle_finalize', {
        session_id,
      });
      const { leaf_count, merkle_root } = call.data as { leaf_count: number; merkle_root: string };
      return { call, lines: [`${session_id} sealed: ${leaf_count} records, root ${merkle_root}${entryNote(call)}`] };
    }),
};

async function findSessionOf(person: Person, taskId: string): Promise<string> {
  const live = await person.read((reader) => findLiveSession(reader, taskNumber(taskId)));
  if (live !== undefined) return formatSessionId(live.session_no);
  const task = await person.read((reader) => findTask(reader, taskId));
  if (task === undefined)
    throw new CommandError('refused', `no task ${taskId}`, { advice: 'run colibri board to see existing tasks' });
  throw new CommandError('refused', `${taskId} has no live session`, {
    advice: `run colibri note ${taskId} "why" to open one, or colibri show ${taskId} to see its sealed ones`,
  });
}

function parseTarget(text: string): string {
  const session = findSessionId(text);
  if (session !== undefined) return session;
  if (/^t-?\d+$/i.test(text)) return parseTaskId(text);
  throw new InvalidArgumentError('Write the id of a session as A-0007 or a-7, or that of a task as T-0042 or t-42.');
}
