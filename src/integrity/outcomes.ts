/** The closed set of codes that a rule may fail with; docs/tools.md lists them for each tool. */
export const RULE_CODES = [
  'ERR_NOT_FOUND',
  'ERR_PROJECT_NOT_FOUND',
  'ERR_INVALID_TRANSITION',
  'ERR_WRITEBACK_REQUIRED',
  'ERR_APPROVAL_REQUIRED',
  'ERR_OBSERVATION_REQUIRED',
  'ERR_CIRCULAR_DEPENDENCY',
  'ERR_TASK_NOT_FOUND',
  'ERR_SESSION_REQUIRED',
  'ERR_SESSION_EXISTS',
  'ERR_SESSION_NOT_FOUND',
  'ERR_SESSION_FINALIZED',
  'ERR_ALREADY_FINALIZED',
  'ERR_NO_RECORDS',
  'ERR_NOT_FINALIZED',
  'ERR_CLAIM_HELD',
  'ERR_CLAIM_LOST',
  'ERR_LOG_ROLLBACK',
  'ERR_CONFIG_INVALID',
  'ERR_INVALID_MODE',
  'ERR_INIT_FAILED',
] as const;

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
] as const;

/** How a call can end, as its exit entry says it: `ok`, or the code of its failure. */
export const OUTCOMES = ['ok', ...RULE_CODES, ...STAGE_CODES] as const;

export type Outcome = (typeof OUTCOMES)[number];

const KNOWN: ReadonlySet<unknown> = new Set(OUTCOMES);

export function isOutcome(value: unknown): value is Outcome {
  return KNOWN.has(value);
}
