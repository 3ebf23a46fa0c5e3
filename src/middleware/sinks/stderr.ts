import { createLog } from '../../log.ts';
import type { AuditSink } from '../audit.ts';

/**
 * For modes that do not write to the ledger: logs the two events of a call to stderr. Of its arguments only the size,
 * because clients keep the log where others may read it.
 */
export function createStderrAudit(write: (line: string) => void): AuditSink {
  const log = createLog('info', write);
  return {
    enter: ({ tool, actor, correlationId, argumentsText }) =>
      log('info', 'action.enter', { tool, actor, correlationId, argumentBytes: Buffer.byteLength(argumentsText) }),
    exit: ({ tool, actor, correlationId, outcome, durationMs }) =>
      log('info', 'action.exit', { tool, actor, correlationId, outcome, durationMs }),
  };
}
