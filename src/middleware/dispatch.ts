import type { CallContext } from '../context.ts';
import { DatabaseError } from '../db/database.ts';
import { internalError } from '../envelope.ts';
import { ColibriError, toError } from '../errors.ts';
import type { Outcome, Tool } from '../tool.ts';

/** Stage 4. Runs the tool; whatever it throws becomes an outcome. */
export async function dispatch(
  tool: Tool,
  input: unknown,
  context: CallContext,
  correlationId: string,
  prepared?: unknown,
): Promise<Outcome> {
  try {
    return { ok: true, data: await tool.handle(input, context, prepared) };
  } catch (thrown) {
    return failed(thrown, correlationId);
  }
}

export function failed(thrown: unknown, correlationId: string): Outcome & { ok: false } {
  const error = toError(thrown);
  if (error instanceof ColibriError) return { ok: false, error, thrown: error };
  // A store that is full, locked or damaged is nobody's bug: its message says what to do.
  if (error instanceof DatabaseError) {
    const { problem, fault, advice } = error;
    const handlerError = new ColibriError('HANDLER_ERROR', problem, { reason: fault }, { advice, cause: error });
    return { ok: false, error: handlerError, thrown: error };
  }
  return { ok: false, error: internalError(correlationId, error), thrown: error };
}
