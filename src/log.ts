import { escapeUnsafe } from './terminal-text.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes one JSON line per event to stderr; stdout is reserved for the protocol. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

export function createLog(threshold: LogLevel, write: (line: string) => void): Log {
  const limit = LOG_LEVELS.indexOf(threshold);
  return (level, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) > limit) return;
    write(toLine({ at: new Date().toISOString(), level, event }, fields));
  };
}

/** A value that JSON cannot represent must not fail the call that logs it. */
function toLine(head: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, unknown>>): string {
  try {
    return escapeUnsafe(JSON.stringify({ ...head, ...fields }, writeError));
  } catch (error) {
    return escapeUnsafe(JSON.stringify({ ...head, unprintable: Object.keys(fields), reason: String(error) }));
  }
}

function writeError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { message: value.message, stack: value.stack, ...(value.cause === undefined ? {} : { cause: value.cause }) };
}
