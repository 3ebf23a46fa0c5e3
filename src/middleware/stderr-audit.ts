import { createLog } from '../log.ts';
import type { AuditSink } from './audit.ts';

/** For modes that may not write to the ledger: the two entries of a call as two lines of the log. */
export function createStderrAudit(write: (line: string) => void): AuditSink {
  const log = createLog('info', write);
  return {
    enter: ({ tool, actor, correlationId, argumentsText }) =>
      log('info', 'action.enter', { tool, actor, correlationId, arguments: argumentsText }),
    exit: ({ tool, actor, correlationId, outcome, durationMs }) =>
      log('info', 'action.exit', { tool, actor, correlationId, outcome, durationMs }),
  };
}
