import { ColibriError, isStageCode } from './errors.ts';
import type { ErrorPattern, Outcome } from './tool.ts';

/** The result of a call on the wire. The text repeats the structured content for clients that read only text. */
export interface Answer {
  readonly structuredContent: Record<string, unknown>;
  readonly text: string;
  readonly isError: boolean;
}

/** The only place that knows the two error patterns. */
export function render(pattern: ErrorPattern, outcome: Outcome): Answer {
  if (outcome.ok) return answer({ ok: true, data: outcome.data }, false);
  const { code, message, facts } = outcome.error;
  if (isStageCode(code)) return answer({ ok: false, error: { code, message, details: facts } }, true);
  if (pattern === 'B') return answer({ ok: true, data: { ok: false, error: { code, message, ...facts } } }, true);
  return answer(
    { ok: false, error: { code: 'HANDLER_ERROR', message: `${code}: ${message}`, details: { code, ...facts } } },
    true,
  );
}

function answer(structuredContent: Record<string, unknown>, isError: boolean): Answer {
  return { structuredContent, text: JSON.stringify(structuredContent), isError };
}

/** For a bug. The client gets a correlation id; the details go to the log only. */
export function internalError(correlationId: string, thrown: Error): ColibriError {
  return new ColibriError(
    'INTERNAL',
    `an unexpected error inside Colibri; nothing was changed. The server's log has the details under ${correlationId}`,
    { correlationId },
    { cause: thrown },
  );
}
