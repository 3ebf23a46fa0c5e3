import { type Database, DatabaseError, type DatabaseFault } from '../db/database.ts';
import type { Answer } from '../envelope.ts';
import { AdvisedError, ColibriError, toError } from '../errors.ts';
import { accessOf } from '../modes.ts';
import type { Failure, Outcome } from '../tool.ts';
import type { AuditSink, RecordedTransaction, RecordedTransactions } from './audit.ts';
import type { ActiveCall, Scope, ValidCall } from './call.ts';
import { readLedger } from './dispatch.ts';
import { type Conclusion, conclude, failed } from './outcome.ts';

interface Stages {
  dispatch(valid: ValidCall, scope: Scope): Promise<Outcome>;
  exit(conclusion: Conclusion, transaction?: RecordedTransaction): Promise<Answer>;
}

/**
 * Runs stages 4 and 5, for a tool that writes in one transaction: neither a change without its exit nor an exit without
 * its change can exist. A failure is recorded without a transaction, because that of the tool is rolled back.
 */
export async function inRecordedTransaction(
  active: ActiveCall,
  ready: Outcome<ValidCall>,
  stages: Stages,
): Promise<Answer> {
  if (!ready.ok) return exitFailed(active, ready, stages);
  let reached: Conclusion | undefined;
  const dispatchAndExit = async (scope: Scope): Promise<Answer> => {
    reached = conclude(active, await stages.dispatch(ready.data, scope));
    if (!reached.outcome.ok) throw reached.outcome.thrown;
    return stages.exit(reached, scope.transaction);
  };
  try {
    return await inScope(active, ready.data, dispatchAndExit);
  } catch (thrown) {
    active.chain.runtime.notCommitted(toError(thrown));
    if (ready.data.tool.answersUnrecorded && reached?.outcome.ok)
      return answerUnrecorded(active, ready.data, toError(thrown), reached, stages);
    return exitFailed(active, failureOf(active, reached?.outcome, thrown), stages);
  }
}

/** For an embedder's sink: its exit is not part of the transaction, but a throw still rolls the changes back. */
export function createSinkTransactions(sink: AuditSink, database: Database): RecordedTransactions {
  return {
    entersInLedger: false,
    run: (_correlationId, work) =>
      database.write({ durable: true }, (db) =>
        work({
          db,
          locked: db.query('SELECT 1'),
          exit: async (event) => {
            await sink.exit(event);
            return undefined;
          },
        }),
      ),
  };
}

async function inScope(
  active: ActiveCall,
  { tool, input }: ValidCall,
  work: (scope: Scope) => Promise<Answer>,
): Promise<Answer> {
  const { database, transactions } = active.chain.runtime;
  if (database === undefined || transactions === undefined || accessOf(tool) !== 'write') return work({});
  const prepared = await tool.prepare?.(input, { read: readLedger(active, database), engine: database.engine });
  return transactions.run(active.event.correlationId, (transaction) => work({ transaction, prepared }));
}

/** Why the stages ended: an error before the tool ran, the tool's own failure, or an exit that was not committed. */
function failureOf(active: ActiveCall, reached: Outcome | undefined, thrown: unknown): Failure {
  if (reached === undefined) return failed(thrown, active.event.correlationId);
  return reached.ok ? notCommitted(active, toError(thrown)) : reached;
}

function notCommitted({ chain, event }: ActiveCall, thrown: Error): Failure {
  const { tool, correlationId } = event;
  const fault = thrown instanceof DatabaseError ? thrown.fault : undefined;
  chain.log('error', fault === 'unknown' ? 'outcome unknown' : 'audit exit failed', {
    tool,
    correlationId,
    error: thrown,
  });
  const { problem, advice } = describe(tool, thrown, fault);
  return { ok: false, error: new ColibriError('AUDIT_EXIT_FAILED', problem, {}, { advice }), thrown };
}

/** Says what is known of the change: committed but maybe not on disk, in doubt, or rolled back. */
function describe(
  tool: string,
  thrown: Error,
  fault?: DatabaseFault,
): { problem: string; advice?: string | undefined } {
  if (fault === 'unknown')
    return {
      problem: `the connection was lost while the result of ${tool} was being committed, so its change may or may not have been made`,
      advice: 'check before you repeat the call',
    };
  const { problem, advice } = thrown instanceof AdvisedError ? thrown : { problem: thrown.message };
  if (fault === 'unsynced') return { problem: `${tool} was done and recorded, but ${problem}`, advice };
  return { problem: `the result of ${tool} could not be recorded, so nothing was changed: ${problem}`, advice };
}

/** Runs the tool again if its answer does not yet say that the exit was not recorded. */
async function answerUnrecorded(
  active: ActiveCall,
  valid: ValidCall,
  thrown: Error,
  reached: Conclusion,
  stages: Stages,
): Promise<Answer> {
  logExitFailed(active, thrown);
  if (valid.unrecorded !== undefined) return reached.answer;
  const unrecorded = new Error(`the result of this call could not be recorded yet: ${thrown.message}`, {
    cause: thrown,
  });
  return exitAnyway(active, conclude(active, await stages.dispatch({ ...valid, unrecorded }, {})), stages);
}

function exitFailed(active: ActiveCall, failure: Failure, stages: Stages): Promise<Answer> {
  const conclusion = conclude(active, failure);
  const { outcome } = conclusion;
  if (!outcome.ok && outcome.error.code === 'INTERNAL') {
    const { tool, correlationId } = active.event;
    active.chain.log('error', 'bug', { tool, correlationId, error: outcome.thrown });
  }
  return exitAnyway(active, conclusion, stages);
}

/** The client needs the answer more than the error of the audit, so the latter only goes to the log. */
async function exitAnyway(active: ActiveCall, conclusion: Conclusion, stages: Stages): Promise<Answer> {
  try {
    return await stages.exit(conclusion);
  } catch (thrown) {
    logExitFailed(active, toError(thrown));
    return conclusion.answer;
  }
}

function logExitFailed({ chain, event: { tool, correlationId } }: ActiveCall, error: Error): void {
  chain.log('error', 'audit exit failed', { tool, correlationId, error });
}
