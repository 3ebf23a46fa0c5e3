import { AdvisedError } from '../../errors.ts';

export type Finding = { readonly check: string; readonly message: string } & (
  | { readonly status: 'ok'; readonly fix?: undefined }
  /** `fix` is the next step. */
  | { readonly status: 'warn' | 'fail'; readonly fix: string }
);

/** For a ledger that only colibri copy may write to. */
export const UNFINISHED_ADVICE = 'run colibri copy with the same --to again, or remove it';

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function warn(check: string, message: string, fix: string): Finding {
  return { check, status: 'warn', message, fix };
}

export function fail(check: string, message: string, fix: string): Finding {
  return { check, status: 'fail', message, fix };
}

export function failFrom(check: string, error: Error): Finding {
  const { problem, advice } = error instanceof AdvisedError ? error : { problem: error.message, advice: undefined };
  return fail(check, problem, advice ?? NO_ADVICE);
}

const NO_ADVICE = 'correct what the message names, then run colibri doctor again';
