import { Argument, InvalidArgumentError, Option } from 'commander';
import type { ApprovalMetadata } from '../../domains/trail/approval.ts';
import { findLiveSession } from '../../domains/trail/sessions.ts';
import { hasCommit } from '../../git/has-commit.ts';
import { taskNumber } from '../../ids.ts';
import { THOUGHT_TYPES } from '../../integrity/index.ts';
import { printError } from '../../print-error.ts';
import type { CliCommand } from '../support/command.ts';
import { TASK_ARGUMENT } from '../support/task-argument.ts';
import type { Person, PersonOptions } from './open-person.ts';
import {
  callOrRefuse,
  type Done,
  entryNote,
  PERSON_OPTIONS,
  runPersonCommand,
  WRITE_EXIT_CODES,
} from './run-person.ts';
import { readText } from './text-argument.ts';

interface NoteOptions extends PersonOptions {
  readonly type: string;
  readonly commit?: string;
}

export const COMMIT_OPTION = new Option('--commit <sha>', 'the commit that it is about').argParser(parseCommit);

export const note: CliCommand<NoteOptions, string> = {
  name: 'note',
  summary: 'record why: a thought record in the trail of a task',
  argument: TASK_ARGUMENT,
  secondArgument: new Argument('<text>', 'what you decided and why; - reads it from standard input'),
  options: [
    new Option('--type <type>', 'the kind of the record').choices(THOUGHT_TYPES).default('decision'),
    COMMIT_OPTION,
    ...PERSON_OPTIONS,
  ],
  details: ['Opens a session for the task if it has none. The record cannot be edited or removed.'],
  examples: [
    ['colibri note 42 "Cached, because parsing took 40 % of the start"'],
    ['colibri note 42 - --type discovery < notes.md'],
  ],
  exitCodes: WRITE_EXIT_CODES,
  run: (options, taskId, text = '') =>
    runPersonCommand('note', options, async (person) => {
      const { type, commit } = options;
      const content = await readText(text);
      const input = { task_id: taskId, type, content, ...(commit === undefined ? {} : { commit_sha: commit }) };
      return recordThought(person, 'note', input, `${type} on ${taskId}`);
    }),
};

interface Thought {
  readonly task_id: string;
  readonly type: string;
  readonly content: string;
  readonly commit_sha?: string;
  readonly metadata?: ApprovalMetadata;
}

/** Records a thought, in a new session if the task has none. `what` names it in the output. */
export async function recordThought(person: Person, command: string, input: Thought, what: string): Promise<Done> {
  const opened = await openSession(person, command, input);
  const call = await callOrRefuse(person, command, 'thought_record', input);
  if (input.commit_sha !== undefined) warnOfUnknownCommit(input.commit_sha);
  const { thought_id, session_id } = call.data as { thought_id: string; session_id: string };
  return { call, lines: [...opened, `${thought_id} ${what}, in ${session_id}${entryNote(call)}`] };
}

/** Not refused: the commit may be in another clone. */
function warnOfUnknownCommit(sha: string): void {
  if (hasCommit(process.cwd(), sha.toLowerCase()) === false)
    printError(
      `Warning: the repository of this folder has no commit ${sha}; if it is a typing error, record it again.`,
    );
}

/** Opens no session for a thought that would be refused. */
async function openSession(person: Person, command: string, input: Thought): Promise<string[]> {
  const { task_id } = input;
  const isValid = person.tools.find(({ name }) => name === 'thought_record')?.inputSchema.safeParse(input).success;
  const live = await person.read((reader) => findLiveSession(reader, taskNumber(task_id)));
  if (live !== undefined || isValid !== true) return [];
  const session = await person.call('audit_session_start', { task_id, auditor_id: person.actor });
  // Another process may have opened one in the meantime; for any other reason the thought is refused too.
  if (session.answer.isError) return [];
  const { session_id } = session.answer.structuredContent['data'] as { session_id: string };
  return [`${session_id} opened for ${task_id} by colibri ${command}${entryNote(session)}`];
}

function parseCommit(text: string): string {
  if (/^[0-9a-f]{7,64}$/i.test(text)) return text;
  throw new InvalidArgumentError('Use a commit hash of 7 to 64 hexadecimal digits.');
}
