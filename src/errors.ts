import { type RULE_CODES, STAGE_CODES } from './integrity/index.ts';

export { RULE_CODES, STAGE_CODES } from './integrity/index.ts';

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
