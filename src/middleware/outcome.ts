import { DatabaseError } from '../db/database.ts';
import { type Answer, internalError, render } from '../envelope.ts';
import { ColibriError, toError } from '../errors.ts';
import type { Failure, Outcome } from '../tool.ts';
import type { ActiveCall } from './call.ts';

/** An outcome and the answer that the client gets for it. */
export interface Conclusion {
  readonly outcome: Outcome;
  readonly answer: Answer;
}

/** Turns anything thrown into an outcome. */
export function failed(thrown: unknown, correlationId: string): Failure {
  const error = toError(thrown);
  if (error instanceof ColibriError) return { ok: false, error, thrown: error };
  // A full, locked or damaged database is not a bug; the message says what to do about it.
  if (error instanceof DatabaseError) {
    const { problem, fault, advice } = error;
    const handlerError = new ColibriError('HANDLER_ERROR', problem, { reason: fault }, { advice, cause: error });
    return { ok: false, error: handlerError, thrown: error };
  }
  return { ok: false, error: internalError(correlationId, error), thrown: error };
}

/** A result without JSON text is a bug of the tool; the call is answered and recorded as one. */
export function conclude({ call, event }: ActiveCall, outcome: Outcome): Conclusion {
  const pattern = call.tool?.errorPattern ?? 'A';
  try {
    return { outcome, answer: render(pattern, outcome) };
  } catch (thrown) {
    const bug = failed(thrown, event.correlationId);
    return { outcome: bug, answer: render(pattern, bug) };
  }
}
