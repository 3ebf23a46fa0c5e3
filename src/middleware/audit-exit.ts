import type { Answer } from '../envelope.ts';
import type { RecordedTransaction, ToolExitEvent } from './audit.ts';
import type { ActiveCall, Call } from './call.ts';
import type { Conclusion } from './outcome.ts';

/** Stage 5. Records the exit in the tool's transaction if it has one; a throw rolls that back. */
export async function auditExit(
  active: ActiveCall,
  conclusion: Conclusion,
  transaction: RecordedTransaction | undefined,
): Promise<Answer> {
  const { audit } = active.chain.runtime;
  const event = createExitEvent(active, conclusion);
  if (transaction === undefined) {
    await audit.exit(event);
    return conclusion.answer;
  }
  const exit = await transaction.exit(event);
  return exit ? { exit, ...conclusion.answer } : conclusion.answer;
}

/** The largest INTEGER of PostgreSQL. A clock that jumps by more than 24 days must not fail the call. */
const MAX_DURATION_MS = 2 ** 31 - 1;

function createExitEvent({ chain, call, event }: ActiveCall, { outcome, answer }: Conclusion): ToolExitEvent {
  const { tool, correlationId, actor, timestamp } = event;
  return Object.freeze({
    tool,
    correlationId,
    durationMs: Math.min(Math.max(0, Math.floor(chain.nowMs() - timestamp)), MAX_DURATION_MS),
    actor,
    at: chain.runtime.now(),
    outcome: outcome.ok ? 'ok' : outcome.error.code,
    answerText: isAnswered(call) ? answer.text : '',
    ...(outcome.ok ? { result: outcome.data } : { error: outcome.thrown }),
  });
}

/** The client gets a protocol error for an unknown tool or a malformed request, and no answer after a cancellation. */
function isAnswered({ tool, defect, signal }: Call): boolean {
  return tool !== undefined && defect === undefined && !signal.aborted;
}
