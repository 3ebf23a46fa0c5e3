export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly says: string;
  /** What to do about it. */
  readonly mend?: string;
}

/** For a ledger that only a copy may write to. */
export const UNFINISHED_ADVICE = 'run colibri copy with the same --to again, or remove it';

export function ok(check: string, says: string): Finding {
  return { check, status: 'ok', says };
}

export function warn(check: string, says: string, mend: string): Finding {
  return { check, status: 'warn', says, mend };
}

export function fail(check: string, says: string, mend: string): Finding {
  return { check, status: 'fail', says, mend };
}

/** The messages of this program say what is wrong, then, after a semicolon, what to do. */
export function failFrom(check: string, { message }: Error): Finding {
  const [says = message, ...mend] = message.split('; ');
  return fail(check, says, mend.join('; ') || 'see the message');
}
