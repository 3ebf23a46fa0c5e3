import { randomUUID } from 'node:crypto';
import { ColibriError, toError } from '../errors.ts';
import type { Outcome } from '../tool.ts';
import type { ToolEnterEvent } from './audit.ts';
import type { ActiveCall, Call, Chain, ValidCall } from './call.ts';

/** Stage 3. A call that cannot be recorded does not run, unless its tool exists to report just that. */
export async function auditEnter(
  { chain, event }: ActiveCall,
  validated: Outcome<ValidCall>,
): Promise<Outcome<ValidCall>> {
  try {
    await chain.runtime.audit.enter(event);
    return validated;
  } catch (thrown) {
    const { tool, correlationId } = event;
    const error = toError(thrown);
    chain.runtime.notCommitted(error);
    chain.log('error', 'audit enter failed', { tool, correlationId, error });
    if (validated.ok && validated.data.tool.answersUnrecorded) {
      const unrecorded = new Error(`this call could not be recorded: ${error.message}`, { cause: error });
      return { ok: true, data: { ...validated.data, unrecorded } };
    }
    const problem = `the call could not be recorded, so ${tool} did not run: ${error.message}`;
    const advice = 'call server_health to see what is wrong';
    return {
      ok: false,
      error: new ColibriError('AUDIT_ENTER_FAILED', problem, {}, { advice, cause: error }),
      thrown: error,
    };
  }
}

export function createEnterEvent(chain: Chain, call: Call, argumentsText: string): ToolEnterEvent {
  return Object.freeze({
    tool: call.name,
    args: call.rawInput,
    timestamp: chain.nowMs(),
    correlationId: randomUUID(),
    actor: call.actor,
    at: chain.runtime.now(),
    argumentsText,
  });
}
