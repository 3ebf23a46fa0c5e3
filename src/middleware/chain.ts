import { randomUUID } from 'node:crypto';
import type { CallContext } from '../context.ts';
import { type Database, DatabaseError, type Reader, type Transaction } from '../db/database.ts';
import { type Answer, render } from '../envelope.ts';
import { ColibriError, toError } from '../errors.ts';
import type { FifoLock } from '../fifo-lock.ts';
import type { Log } from '../log.ts';
import { accessOf } from '../modes.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Outcome, Tool } from '../tool.ts';
import { recordArguments, type ToolEnterEvent, type ToolExitEvent } from './audit.ts';
import { assertNotCancelled, cancellableReader } from './cancellable-reader.ts';
import { dispatch, failed } from './dispatch.ts';
import { assertAdmitted } from './tool-lock.ts';
import { validate } from './validate.ts';

/** What the stages share in one server. */
export interface Chain {
  readonly lock: FifoLock;
  readonly runtime: Runtime;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** One request, as it came in at the door. */
export interface Call {
  readonly name: string;
  /** Undefined when there is no tool of that name: such a call is recorded too. */
  readonly tool: Tool | undefined;
  readonly rawInput: unknown;
  readonly actor: string;
  readonly progress: CallContext['progress'];
  /** Aborts when the client cancels the request. */
  readonly signal: AbortSignal;
}

/**
 * The five stages, in order. A failure at any of them becomes an outcome and leaves by the same door. Rejects only for
 * a call that was cancelled before its first stage, which leaves no trace.
 */
export function runCall(chain: Chain, call: Call): Promise<Answer> {
  return chain.lock.run(async () => {
    const { text, defect } = recordArguments(call.rawInput);
    const event = enterEvent(chain, call, text);
    const checked = await attempt(event, () => {
      if (call.tool === undefined) throw new ColibriError('UNKNOWN_TOOL', `there is no tool ${call.name}`);
      assertAdmitted(chain.runtime, call.tool); //                          1 tool-lock
      return validate(call.tool, call.rawInput, defect); //                 2 validate
    });
    const entered = await enter(chain, event); //                           3 audit enter
    if (!entered.ok) return exit(chain, call, event, entered);
    if (!checked.ok) return exit(chain, call, event, checked);
    return dispatchAndExit(chain, call, event, checked.data); //            4 dispatch, 5 audit exit
  }, call.signal);
}

async function dispatchAndExit(chain: Chain, call: Call, event: ToolEnterEvent, input: unknown): Promise<Answer> {
  const tool = call.tool as Tool;
  const { database } = chain.runtime;
  const { actor, progress, signal } = call;
  const context: CallContext = { actor, at: event.at, progress, signal };
  const run = (scope: object, prepared?: unknown) =>
    dispatch(tool, input, { ...context, ...scope }, event.correlationId, prepared);
  const access = accessOf(tool);
  if (database === undefined || access === 'none') return exit(chain, call, event, await run({}));
  const read = <Result>(work: (db: Reader) => Promise<Result>) =>
    database.read((db) => work(cancellableReader(db, signal, chain.nowMs)));
  if (access === 'write') {
    const prepared = await attempt(event, () => tool.prepare?.(input, read));
    if (!prepared.ok) return exit(chain, call, event, prepared);
    return writeAndExit(chain, call, event, database, (scope) => run(scope, prepared.data));
  }
  const outcome = await attempt(event, () => read((db) => run({ db })));
  return exit(chain, call, event, outcome.ok ? (outcome.data as Outcome) : outcome);
}

/** The exit joins the tool's transaction: a change without its exit, or an exit without its change, cannot exist. */
async function writeAndExit(
  chain: Chain,
  call: Call,
  event: ToolEnterEvent,
  database: Database,
  run: (scope: { db: Transaction }) => Promise<Outcome>,
): Promise<Answer> {
  let concluded: Concluded | undefined;
  try {
    return await database.write({ durable: true }, async (db) => {
      // Waiting for the write lock can take seconds; what has not begun by then is not begun any more.
      assertNotCancelled(call.signal);
      chain.runtime.audit.prepareExit?.(event.correlationId, db);
      concluded = conclude(call, event, await run({ db }));
      const { outcome, answer } = concluded;
      if (!outcome.ok) throw outcome.thrown;
      await chain.runtime.audit.exit(exitEvent(chain, call, event, outcome, answer), db);
      return answer;
    });
  } catch (thrown) {
    if (concluded === undefined) return exit(chain, call, event, failed(thrown, event.correlationId));
    if (!concluded.outcome.ok) return exit(chain, call, event, concluded.outcome);
    if (isUnsynced(thrown)) return exit(chain, call, event, unsynced(event, thrown));
    const fate = isInDoubt(thrown) ? await resolveCommit(chain, event) : 'undone';
    if (fate === 'recorded') return concluded.answer;
    if (fate === 'unknown') return exit(chain, call, event, inDoubt(event, thrown));
    const reason = isInDoubt(thrown) ? new Error('the connection was lost before the commit') : thrown;
    return exit(chain, call, event, exitFailed(event, reason));
  }
}

function isInDoubt(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && thrown.fault === 'unknown';
}

function isUnsynced(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && thrown.fault === 'unsynced';
}

/** The connection broke while the change was being committed. The record itself knows what became of it. */
async function resolveCommit(chain: Chain, event: ToolEnterEvent): Promise<'recorded' | 'undone' | 'unknown'> {
  try {
    return (await chain.runtime.audit.wasRecorded?.(event.correlationId)) ? 'recorded' : 'undone';
  } catch (thrown) {
    const { tool, correlationId } = event;
    chain.log('error', 'outcome unknown', { tool, correlationId, error: toError(thrown) });
    return 'unknown';
  }
}

async function enter(chain: Chain, event: ToolEnterEvent): Promise<Outcome> {
  try {
    await chain.runtime.audit.enter(event);
    return { ok: true, data: undefined };
  } catch (thrown) {
    const { tool, correlationId } = event;
    chain.log('error', 'audit enter failed', { tool, correlationId, error: toError(thrown) });
    const message = `the call could not be recorded, so ${event.tool} did not run: ${toError(thrown).message}`;
    return { ok: false, error: new ColibriError('AUDIT_ENTER_FAILED', message), thrown: toError(thrown) };
  }
}

/** Stage 5 for everything that has no transaction to join. */
async function exit(chain: Chain, call: Call, event: ToolEnterEvent, reached: Outcome): Promise<Answer> {
  const { outcome, answer } = conclude(call, event, reached);
  if (!outcome.ok && outcome.error.code === 'INTERNAL') {
    chain.log('error', 'bug', { tool: event.tool, correlationId: event.correlationId, error: outcome.thrown });
  }
  try {
    await chain.runtime.audit.exit(exitEvent(chain, call, event, outcome, answer));
    return answer;
  } catch (thrown) {
    chain.log('error', 'audit exit failed', {
      tool: event.tool,
      correlationId: event.correlationId,
      error: toError(thrown),
    });
    // The reader of a failure needs the tool's own error more than the audit's.
    // A success that the client never hears of is recorded as what it does hear.
    return outcome.ok ? exit(chain, call, event, exitFailed(event, thrown)) : answer;
  }
}

interface Concluded {
  readonly outcome: Outcome;
  readonly answer: Answer;
}

/** What a tool returns may have no JSON text. That is a bug of the tool; its call is answered and recorded as such. */
function conclude(call: Call, event: ToolEnterEvent, outcome: Outcome): Concluded {
  try {
    return { outcome, answer: render(patternOf(call), outcome) };
  } catch (thrown) {
    const bug = failed(thrown, event.correlationId);
    return { outcome: bug, answer: render(patternOf(call), bug) };
  }
}

function exitFailed(event: ToolEnterEvent, thrown: unknown): Outcome & { ok: false } {
  const message = `the result of ${event.tool} could not be recorded, so nothing was changed: ${toError(thrown).message}`;
  return { ok: false, error: new ColibriError('AUDIT_EXIT_FAILED', message), thrown: toError(thrown) };
}

/** Neither "done" nor "nothing was changed" would be true. The exit is owed, and the next call finds out. */
function inDoubt(event: ToolEnterEvent, thrown: unknown): Outcome & { ok: false } {
  const problem = `the connection was lost while the result of ${event.tool} was being committed, so its change may have been made or not`;
  const advice = 'check before you repeat the call';
  return {
    ok: false,
    error: new ColibriError('AUDIT_EXIT_FAILED', problem, {}, { advice }),
    thrown: toError(thrown),
  };
}

/** The change and its exit are in the ledger, so "nothing was changed" would be wrong; and it may not be there for long. */
function unsynced(event: ToolEnterEvent, thrown: unknown): Outcome & { ok: false } {
  const message = `${event.tool} was done and recorded, but ${toError(thrown).message}`;
  return { ok: false, error: new ColibriError('AUDIT_EXIT_FAILED', message), thrown: toError(thrown) };
}

async function attempt(event: ToolEnterEvent, work: () => unknown): Promise<Outcome> {
  try {
    return { ok: true, data: await work() };
  } catch (thrown) {
    return failed(thrown, event.correlationId);
  }
}

function patternOf({ tool }: Call): 'A' | 'B' {
  return tool?.errorPattern ?? 'A';
}

function enterEvent(chain: Chain, call: Call, argumentsText: string): ToolEnterEvent {
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

/** What a column of every engine holds; a clock that leaps by more than 24 days must not fail the call. */
const MAX_DURATION_MS = 2 ** 31 - 1;

function exitEvent(chain: Chain, call: Call, entered: ToolEnterEvent, outcome: Outcome, answer: Answer): ToolExitEvent {
  const { tool, correlationId, actor, timestamp } = entered;
  return Object.freeze({
    tool,
    correlationId,
    durationMs: Math.min(Math.max(0, Math.floor(chain.nowMs() - timestamp)), MAX_DURATION_MS),
    actor,
    at: chain.runtime.now(),
    outcome: outcome.ok ? 'ok' : outcome.error.code,
    // The record holds what the client received: a protocol error for an unknown tool, nothing after it cancelled.
    answerText: call.tool === undefined || call.signal.aborted ? '' : answer.text,
    ...(outcome.ok ? { result: outcome.data } : { error: outcome.thrown }),
  });
}
