import type { Database } from '../../src/db/database.ts';
import { type Entry, sha256 } from '../../src/integrity/index.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import type { ToolEnterEvent, ToolExitEvent } from '../../src/middleware/audit.ts';
import { AT } from './database.ts';
import { processIdOf } from './process-id.ts';

/** An entry that has no row of its own anywhere else. */
export function noteEntry(text: string): Entry {
  return { v: 1, kind: 'task.created', at: AT, actor: 'tester', task_id: 'T-0001', task: sha256(text), sessions: [] };
}

export function enterEvent(correlationId: string, argumentsText = '{}'): ToolEnterEvent {
  return { tool: 'server_ping', args: {}, timestamp: 0, correlationId, actor: 'tester', at: AT, argumentsText };
}

export function exitEvent(correlationId: string, outcome = 'ok'): ToolExitEvent {
  return { tool: 'server_ping', correlationId, durationMs: 3, actor: 'tester', at: AT, outcome, answerText: '{}' };
}

/** Whole calls, by the way that a server records them. */
export async function recordCalls(database: Database, count: number, name = 'recorder'): Promise<void> {
  const log = new CallRecorder(database, processIdOf(name));
  for (let call = 0; call < count; call += 1) {
    await log.enter(enterEvent(`call ${call}`, `{"call":${call}}`));
    await log.exit(exitEvent(`call ${call}`, call % 3 === 2 ? 'INVALID_PARAMS' : 'ok'));
  }
}
