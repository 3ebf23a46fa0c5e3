import { toAgentName } from '../text/reserved-name.ts';

const MAX_LENGTH = 128;
const CONTROL = /\p{Cc}/gu;
/** The assignee of tasks that no one has. */
const NO_AGENT = 'unassigned';

/**
 * The form in which a name from a client is recorded. Truncates before it repairs, because truncation can split a
 * surrogate pair, which no entry can contain. PostgreSQL cannot store NUL in a text, and a line break or an escape
 * sequence in a name would forge what people read.
 */
export function toRecordedName(name: string): string {
  return name.slice(0, MAX_LENGTH).toWellFormed().replaceAll(CONTROL, '\uFFFD');
}

/** The name under which the calls of a client are recorded. */
export function toClientName(given: string): string {
  const own = toRecordedName(given).trim();
  return own === '' || own === NO_AGENT ? 'unknown' : toAgentName(own);
}
