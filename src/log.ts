import { escapeUnsafe } from './terminal-text.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Writes one JSON line per event to stderr; stdout is reserved for the protocol. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

export interface LogOptions {
  /** False for a log that people read in a terminal. */
  readonly hasStacks?: boolean;
}

export function createLog(
  threshold: LogLevel,
  write: (line: string) => void,
  { hasStacks = true }: LogOptions = {},
): Log {
  const limit = LOG_LEVELS.indexOf(threshold);
  const replacer = hasStacks ? writeError : writeMessage;
  return (level, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) > limit) return;
    write(toLine({ at: new Date().toISOString(), level, event }, fields, replacer));
  };
}

/** A value that JSON cannot represent must not fail the call that logs it. */
function toLine(
  head: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
  replacer: (key: string, value: unknown) => unknown,
): string {
  try {
    return escapeUnsafe(JSON.stringify({ ...head, ...fields }, replacer));
  } catch (error) {
    return escapeUnsafe(JSON.stringify({ ...head, unprintable: Object.keys(fields), reason: String(error) }));
  }
}

function writeError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { message: value.message, stack: value.stack, ...(value.cause === undefined ? {} : { cause: value.cause }) };
}

function writeMessage(_key: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
