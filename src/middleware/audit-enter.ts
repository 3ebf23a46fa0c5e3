import { randomUUID } from 'node:crypto';
import { ColibriError, toError } from '../errors.ts';
import type { Outcome } from '../tool.ts';
import type { ToolEnterEvent } from './audit.ts';
import type { ActiveCall, Call, Chain } from './call.ts';

/** Stage 3. A call that cannot be recorded does not run. */
export async function auditEnter({ chain, event }: ActiveCall): Promise<Outcome<undefined>> {
  try {
    await chain.runtime.audit.enter(event);
    return { ok: true, data: undefined };
  } catch (thrown) {
    const { tool, correlationId } = event;
    const error = toError(thrown);
    chain.log('error', 'audit enter failed', { tool, correlationId, error });
    const message = `the call could not be recorded, so ${tool} did not run: ${error.message}`;
    return { ok: false, error: new ColibriError('AUDIT_ENTER_FAILED', message), thrown: error };
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
