import { ColibriError } from '../errors.ts';
import { accessOf, isAdmitted } from '../modes.ts';
import type { Failure, Outcome, Tool } from '../tool.ts';
import type { Call, Chain, ServerState } from './call.ts';

/**
 * Stage 1. One call at a time, first come, first served. One lock for all tools: a lock per tool could not protect the
 * one database transaction they share. Calls that arrive while the server boots wait at the gate.
 */
export async function toolLock<Result>(
  { lock, runtime }: Chain,
  { name, tool, rawInput, signal }: Call,
  work: (admitted: Outcome<Tool>, isSettled: boolean) => Promise<Result>,
): Promise<Result> {
  await runtime.passGate(tool?.early ?? false);
  return lock.run(async () => {
    // The log shows what an agent did before a call, and rules about it find it.
    const isSettled = tool === undefined || accessOf(tool) === 'none' || (await settle(runtime, tool, rawInput));
    // Admission is decided under the lock, because the end of the boot changes the mode.
    return work(admit(runtime, name, tool), isSettled);
  }, signal);
}

/** Most calls do not wait for thousands of events after a long time without a server. */
async function settle(runtime: ServerState, tool: Tool, rawInput: unknown): Promise<boolean> {
  const isWhole = tool.needsObserved?.(tool.normalize?.(rawInput) ?? rawInput) ?? false;
  return (await runtime.settle(isWhole)) || !isWhole;
}

function admit(runtime: ServerState, name: string, tool: Tool | undefined): Outcome<Tool> {
  if (tool === undefined) return refuse(new ColibriError('UNKNOWN_TOOL', `there is no tool ${name}`));
  const { mode, failure, isRetrying, rollback } = runtime;
  if (failure !== undefined && accessOf(tool) !== 'none') {
    const problem = `Colibri could not open its ledger: ${failure.message}`;
    const advice = `call server_health for details${isRetrying ? ' while Colibri keeps retrying' : ''}`;
    return refuse(new ColibriError('ERR_INIT_FAILED', problem, {}, { advice }));
  }
  if (isAdmitted(mode, tool)) return { ok: true, data: tool };
  if (rollback !== undefined) return refuse(readOnlyBecause(rollback));
  const problem = `${tool.name} is not available in ${mode} mode`;
  const advice = 'ask the owner of this server to start it with COLIBRI_MODE=FULL';
  return refuse(new ColibriError('TOOL_NOT_ADMITTED', problem, { tool: tool.name, mode }, { advice }));
}

function readOnlyBecause(rollback: Error): ColibriError {
  return rollback instanceof ColibriError ? rollback : new ColibriError('ERR_LOG_ROLLBACK', rollback.message);
}

function refuse(error: ColibriError): Failure {
  return { ok: false, error, thrown: error };
}
