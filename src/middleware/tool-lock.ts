import { ColibriError } from '../errors.ts';
import { FifoLock } from '../fifo-lock.ts';
import { accessOf, isAdmitted } from '../modes.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Tool } from '../tool.ts';

/** Stage 1. One lock for all tools: a lock for each could not protect the one database transaction they share. */
export function createToolLock(): FifoLock {
  return new FifoLock();
}

export function assertAdmitted({ mode, failure, isRetrying }: Runtime, tool: Tool): void {
  if (failure !== undefined && accessOf(tool) !== 'none') {
    const prospect = isRetrying ? 'It tries again by itself; server_health says more' : 'server_health says more';
    throw new ColibriError('ERR_INIT_FAILED', `Colibri could not open its ledger: ${failure.message}. ${prospect}`);
  }
  if (isAdmitted(mode, tool)) return;
  throw new ColibriError(
    'TOOL_NOT_ADMITTED',
    `${tool.name} is not available in ${mode} mode`,
    { tool: tool.name, mode },
    { advice: 'ask the owner of this server to start it with COLIBRI_MODE=FULL' },
  );
}
