import type { Outcome } from './integrity/index.ts';

/** The closed set of codes that a rule may fail with; docs/tools.md lists them for each tool. */
export const RULE_CODES = [
  'ERR_NOT_FOUND',
  'ERR_PROJECT_NOT_FOUND',
  'ERR_INVALID_TRANSITION',
  'ERR_WRITEBACK_REQUIRED',
  'ERR_CIRCULAR_DEPENDENCY',
  'ERR_TASK_NOT_FOUND',
  'ERR_SESSION_REQUIRED',
  'ERR_SESSION_EXISTS',
  'ERR_SESSION_NOT_FOUND',
  'ERR_SESSION_FINALIZED',
  'ERR_ALREADY_FINALIZED',
  'ERR_NO_RECORDS',
  'ERR_NOT_FINALIZED',
  'ERR_LOG_ROLLBACK',
  'ERR_CONFIG_INVALID',
  'ERR_INVALID_MODE',
  'ERR_INIT_FAILED',
] as const satisfies readonly Outcome[];

/** Codes of the five stages themselves: always rendered at the top level of an answer. */
export const STAGE_CODES = [
  'UNKNOWN_TOOL',
  'TOOL_NOT_ADMITTED',
  'INVALID_PARAMS',
  'CANCELLED',
  'AUDIT_ENTER_FAILED',
  'AUDIT_EXIT_FAILED',
  'HANDLER_ERROR',
  'INTERNAL',
] as const satisfies readonly Outcome[];

export type RuleCode = (typeof RULE_CODES)[number];
export type StageCode = (typeof STAGE_CODES)[number];
export type ErrorCode = RuleCode | StageCode;

/** The one way to fail: a code, a sentence a person can act on, and the facts behind it. */
export class ColibriError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly facts: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ColibriError';
  }
}

export function isStageCode(code: ErrorCode): code is StageCode {
  return (STAGE_CODES as readonly string[]).includes(code);
}

/** JavaScript can throw anything; everything downstream wants an Error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    return new Error('something was thrown that has no text');
  }
}
