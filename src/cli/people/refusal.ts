import type { Answer } from '../../envelope.ts';
import { AdvisedError, type ColibriError, type ErrorCode } from '../../errors.ts';
import type { InputIssue } from '../../middleware/input-issues.ts';
import { CommandError, type Verdict } from '../support/command-result.ts';
import { isTemporary } from '../support/with-ledger.ts';
import type { Person } from './open-person.ts';

/** Errors of a call, for a person: the advice names commands where the tool names other tools. */

/** The error that ends a command because its call failed. */
export function refusalOf(
  command: string,
  { error, structuredContent }: Answer,
  { tools, config }: Pick<Person, 'tools' | 'config'>,
): CommandError {
  if (error === undefined) throw new Error('a call that succeeded was taken for a refusal');
  return new CommandError(verdictOf(error.code), problemOf(command, error), {
    advice: adviceOf(command, error, { tools, config }),
    facts: structuredContent,
  });
}

/** Not refused by a rule: the call itself was wrong, or its result is unknown or was undone. */
const OTHER_VERDICTS: Partial<Record<ErrorCode, Verdict>> = {
  INVALID_PARAMS: 'bad input',
  UNKNOWN_TOOL: 'bad input',
  ERR_CONFIG_INVALID: 'bad input',
  ERR_INVALID_MODE: 'bad input',
  ERR_INIT_FAILED: 'cannot tell',
  AUDIT_ENTER_FAILED: 'cannot tell',
  AUDIT_EXIT_FAILED: 'cannot tell',
  HANDLER_ERROR: 'cannot tell',
  INTERNAL: 'cannot tell',
  CANCELLED: 'cannot tell',
};

function verdictOf(code: ErrorCode): Verdict {
  return OTHER_VERDICTS[code] ?? 'refused';
}

const MAX_SHOWN_ISSUES = 3;

/** A person gave options, not the fields of a tool. */
function problemOf(command: string, { code, problem, facts }: ColibriError): string {
  if (code !== 'INVALID_PARAMS') return problem;
  const issues = facts['issues'] as readonly InputIssue[];
  const shown = issues
    .slice(0, MAX_SHOWN_ISSUES)
    .map(({ path, message }) => [...path.map((step) => wordFor(command, step)), message].join(' '));
  return [...shown, ...(issues.length > MAX_SHOWN_ISSUES ? [`${issues.length - MAX_SHOWN_ISSUES} more`] : [])].join(
    '; ',
  );
}

/** What a person calls a field that no option or argument is named after. */
const WORDS: Readonly<Record<string, string>> = { blocked_reason: 'the reason', content: 'the text' };

function wordFor(command: string, step: string | number): string {
  if (command === 'call') return String(step);
  return typeof step === 'number' ? `item ${step + 1}` : (WORDS[step] ?? step);
}

function adviceOf(
  command: string,
  error: ColibriError,
  { tools, config }: Pick<Person, 'tools' | 'config'>,
): string | undefined {
  const taskId = (error.facts['taskId'] ?? '') as string;
  switch (error.code) {
    case 'ERR_NOT_FOUND':
    case 'ERR_TASK_NOT_FOUND':
      return isTemporary(config)
        ? 'unset COLIBRI_MODE to use the ledger of the project'
        : 'run colibri board to see existing tasks';
    case 'ERR_INVALID_TRANSITION':
      return nextSteps(taskId, error.facts['allowed'] as readonly string[]);
    case 'ERR_CLAIM_HELD':
      return command === 'call'
        ? 'use colibri edit or done with --force "why" to override the claim'
        : 'repeat the command with --force "why" to override the claim';
    case 'ERR_CLAIM_LOST':
      return `run colibri show ${taskId}, or repeat the command with --force "why"`;
    case 'ERR_WRITEBACK_REQUIRED':
      return `run colibri note ${taskId} "why it is done" first`;
    case 'ERR_APPROVAL_REQUIRED':
      return error.facts['review'] === 'other'
        ? `let another person run colibri approve ${taskId}, or another agent finish it`
        : `run colibri approve ${taskId}`;
    case 'ERR_OBSERVATION_REQUIRED':
      return `let the agent run it in the session that works on ${taskId}, or repeat the command with --force "why"`;
    case 'ERR_SESSION_NOT_FOUND':
      return 'run colibri show with the id of a task to see its sessions';
    case 'ERR_ALREADY_FINALIZED':
      return 'run colibri note to open a new session';
    case 'ERR_NO_RECORDS':
      return 'run colibri note to add one';
    case 'UNKNOWN_TOOL':
      return `call one of ${tools.map(({ name }) => name).join(', ')}`;
    case 'INVALID_PARAMS':
      return `run colibri ${command} --help`;
    case 'TOOL_NOT_ADMITTED':
      return 'set COLIBRI_MODE=FULL, or unset it';
    case 'AUDIT_ENTER_FAILED':
      // The problem then ends with that advice.
      return error.cause instanceof AdvisedError && error.cause.advice !== undefined ? undefined : FIND_OUT;
    case 'ERR_INIT_FAILED':
      return FIND_OUT;
    default:
      return error.advice;
  }
}

const FIND_OUT = 'run colibri doctor to see what is wrong';

const COMMANDS: Readonly<Record<string, string>> = {
  in_progress: 'start',
  GATHER: 'start',
  review: 'review',
  VERIFY: 'review',
  done: 'done',
  DONE: 'done',
  cancelled: 'cancel',
  CANCELLED: 'cancel',
};

/** The command for the first step that is allowed. */
function nextSteps(taskId: string, [first]: readonly string[]): string {
  if (taskId === '') return 'choose one of these with --status';
  if (first === undefined) return 'run colibri add to create another task';
  const command = COMMANDS[first];
  return command === undefined ? `run colibri edit ${taskId} --status ${first}` : `run colibri ${command} ${taskId}`;
}
