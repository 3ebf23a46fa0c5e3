import { escapeUnsafe } from './terminal-text.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One JSON line on stderr for each event; stdout belongs to the protocol. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

export function createLog(threshold: LogLevel, write: (line: string) => void): Log {
  const limit = LOG_LEVELS.indexOf(threshold);
  return (level, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) > limit) return;
    write(toLine({ at: new Date().toISOString(), level, event }, fields));
  };
}

/** A line that cannot be written must not take down the call that it is about. */
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
