export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One JSON line on stderr for each event; stdout belongs to the protocol. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

export function createLog(threshold: LogLevel, write: (line: string) => void): Log {
  const limit = LOG_LEVELS.indexOf(threshold);
  return (level, event, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) > limit) return;
    write(JSON.stringify({ at: new Date().toISOString(), level, event, ...fields }, writeError));
  };
}

function writeError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { message: value.message, stack: value.stack, ...(value.cause === undefined ? {} : { cause: value.cause }) };
}
