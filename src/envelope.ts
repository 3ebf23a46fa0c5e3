import { ColibriError, isStageCode } from './errors.ts';
import { escapeUnsafe } from './terminal-text.ts';
import type { ErrorPattern, Outcome } from './tool.ts';

/**
 * The result of a call on the wire. The text repeats the structured content for clients that read only text. The text
 * of a failure begins with a sentence on a line of its own, because clients show people the first line.
 */
export interface Answer {
  readonly structuredContent: Record<string, unknown>;
  readonly text: string;
  readonly isError: boolean;
  /** The entry that ends the call, if it changed the ledger: sent as a receipt. */
  readonly exit?: { readonly index: number; readonly leaf: string };
  /** Set for a failure; not sent. */
  readonly error?: ColibriError;
}

/** The only place that knows the two error patterns. */
export function render(pattern: ErrorPattern, outcome: Outcome): Answer {
  if (outcome.ok) {
    const structuredContent = { ok: true, data: outcome.data };
    return { structuredContent, text: JSON.stringify(structuredContent), isError: false };
  }
  const { error } = outcome;
  const structuredContent = renderFailure(pattern, error);
  const text = `${firstLine(error)}\n${JSON.stringify(structuredContent)}`;
  return { structuredContent, text, isError: true, error };
}

function renderFailure(pattern: ErrorPattern, { code, message, facts }: ColibriError): Record<string, unknown> {
  if (isStageCode(code)) return { ok: false, error: { code, message, details: facts } };
  if (pattern === 'B') return { ok: true, data: { ok: false, error: { code, message, ...facts } } };
  return { ok: false, error: { code: 'HANDLER_ERROR', message: `${code}: ${message}`, details: { code, ...facts } } };
}

/** A message quotes data, which must not begin a second line. */
function firstLine({ code, message }: ColibriError): string {
  const sentence = escapeUnsafe(`${code}: ${message}`);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
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
