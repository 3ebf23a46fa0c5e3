import type { CallContext, ReadLedger } from '../context.ts';
import type { Database } from '../db/database.ts';
import { accessOf } from '../modes.ts';
import type { Outcome } from '../tool.ts';
import type { RecordedTransaction } from './audit.ts';
import type { ActiveCall, Scope, ValidCall } from './call.ts';
import { assertNotCancelled, cancellableReader } from './cancellable-reader.ts';
import { failed } from './outcome.ts';

/** Stage 4. Runs the tool with the database access it declares; anything it throws becomes an outcome. */
export async function dispatch(active: ActiveCall, valid: ValidCall, scope: Scope): Promise<Outcome> {
  try {
    return { ok: true, data: await runTool(active, valid, scope) };
  } catch (thrown) {
    return failed(thrown, active.event.correlationId);
  }
}

function runTool(
  active: ActiveCall,
  { tool, input, unrecorded }: ValidCall,
  { transaction, prepared }: Scope,
): unknown {
  const { progress, signal, force } = active.call;
  const actor = active.chain.runtime.actorOf(active.call.actor);
  const doubt = unrecorded === undefined ? {} : { unrecorded };
  const override = force === undefined ? {} : { force };
  const gap = active.isSettled ? {} : { hasWaitingEvents: true as const };
  const context: CallContext = { actor, at: active.event.at, progress, signal, ...override, ...doubt, ...gap };
  const { database } = active.chain.runtime;
  if (transaction !== undefined) {
    const firstCall = active.chain.runtime.firstCallOf(actor);
    const write = { db: transaction.db, liveness: database, firstCall, ...context } as CallContext;
    return unlessCancelled(transaction, signal, () => tool.handle(input, write, prepared));
  }
  if (database === undefined || accessOf(tool) === 'none') return tool.handle(input, context);
  return readLedger(
    active,
    database,
  )(async (db) => tool.handle(input, { db, liveness: database, ...context } as CallContext));
}

/**
 * Waiting for the write lock can take seconds; a call that is cancelled meanwhile must change nothing. On PostgreSQL
 * the statements of a tool wait for the lock, so that its work is undone if the lock came too late.
 */
async function unlessCancelled(
  { locked }: RecordedTransaction,
  signal: AbortSignal,
  work: () => unknown,
): Promise<unknown> {
  const isCancelled = () => signal.aborted;
  const wasCancelled = locked.then(isCancelled, isCancelled);
  assertNotCancelled(signal);
  const result = await work();
  if (await wasCancelled) assertNotCancelled(signal);
  return result;
}

/** Reads one snapshot of the ledger, until the client cancels the call. */
export function readLedger({ chain, call }: ActiveCall, database: Database): ReadLedger {
  const { rollback, transactions } = chain.runtime;
  // After a rollback was found, calls are entered elsewhere.
  const followsEnter = rollback === undefined && (transactions?.entersInLedger ?? false);
  return (work) => database.read((db) => work(cancellableReader(db, call.signal, chain.nowMs)), { followsEnter });
}
