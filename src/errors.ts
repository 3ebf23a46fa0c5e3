import { type RULE_CODES, STAGE_CODES } from './integrity/index.ts';

export { RULE_CODES, STAGE_CODES } from './integrity/index.ts';

export type RuleCode = (typeof RULE_CODES)[number];
export type StageCode = (typeof STAGE_CODES)[number];
export type ErrorCode = RuleCode | StageCode;

export interface AdviceOptions extends ErrorOptions {
  /** The next step, as an imperative without a final period. */
  readonly advice?: string | undefined;
}

/** An error with a next step. `message` is the problem followed by the advice; the fields hold each on its own. */
export class AdvisedError extends Error {
  readonly advice: string | undefined;

  constructor(
    readonly problem: string,
    { advice, ...options }: AdviceOptions = {},
  ) {
    super(advice === undefined ? problem : `${problem}; ${advice}`, options);
    this.advice = advice;
  }
}

/** The error that rules throw: a code, the problem with its advice, and the facts as data. */
export class ColibriError extends AdvisedError {
  constructor(
    readonly code: ErrorCode,
    problem: string,
    readonly facts: Readonly<Record<string, unknown>> = {},
    options?: AdviceOptions,
  ) {
    super(problem, options);
    this.name = 'ColibriError';
  }
}

export function isStageCode(code: ErrorCode): code is StageCode {
  return (STAGE_CODES as readonly string[]).includes(code);
}

/** JavaScript can throw any value; callers need an Error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    return new Error('a value without a text was thrown');
  }
}
