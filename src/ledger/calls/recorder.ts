import { type Database, DatabaseError, type Reader, type Transaction } from '../../db/database.ts';
import type {
  AuditSink,
  CallerNames,
  FoundActor,
  RecordedTransaction,
  RecordedTransactions,
  ToolEnterEvent,
  ToolExitEvent,
} from '../../middleware/audit.ts';
import type { AgentNames, ChosenName } from '../presence/agent-names.ts';
import { findReplaceable, type LastCalls } from '../presence/stale-rows.ts';
import { createSalt } from '../salt.ts';
import { type Enter, enterCall, type NameEnter, type OpenCall, toEnter, toEnteredCall } from './enter.ts';
import { type Exit, type ExitPlace, exitCall, toExit } from './exit.ts';
import { closeDuplicateEnters } from './interrupted.ts';
import { PendingExits } from './pending-exits.ts';
import { type CallState, findBySalt, queryHeadAndState, queryState } from './state.ts';

/** PostgreSQL drops a client that vanished after 20 seconds; a statement sent before that cannot arrive much later. */
const DOUBT_MS = 60_000;

export interface RecorderOptions {
  /** Undefined if calls are recorded under the name that they arrive with. */
  readonly names?: AgentNames | undefined;
  /** The last calls before this process started. */
  readonly earlier?: LastCalls;
  /** Told the size of the log after the exit of a call that changed nothing. */
  readonly onUnchanged?: (size: number) => void;
}

/** Records every call as two entries of the log. Calls arrive one at a time. */
export class CallRecorder implements AuditSink, CallerNames, RecordedTransactions {
  readonly entersInLedger = true;
  readonly #database: Database;
  readonly #processId: string;
  readonly #names: AgentNames | undefined;
  readonly #earlier: LastCalls;
  readonly #pendingExits: PendingExits;
  readonly #onUnchanged: RecorderOptions['onUnchanged'];
  #current: OpenCall | undefined;
  /** The last call of each actor, whose row of `presence` the next call replaces. */
  readonly #lastCalls = new Map<string, number>();
  /** Set while an enter that was retried may still be committed by its first attempt. */
  #doubtUntilMs: number | undefined;

  constructor(
    database: Database,
    processId: string,
    { names, earlier = new Map(), onUnchanged }: RecorderOptions = {},
  ) {
    this.#database = database;
    this.#processId = processId;
    this.#names = names;
    this.#earlier = earlier;
    this.#onUnchanged = onUnchanged;
    this.#pendingExits = new PendingExits(database);
  }

  async enter(event: ToolEnterEvent): Promise<void> {
    this.#current = undefined;
    this.#pendingExits.requeueUnsyncedExits();
    const attempt = await this.#createAttempt(event);
    const sequenceNo = await this.#enter(attempt).catch((error: unknown) => {
      if (!isRetryable(error)) throw error;
      if (isInDoubt(error)) this.#doubtUntilMs = event.timestamp + DOUBT_MS;
      return this.#enterAgain(attempt).finally(() => {
        this.#current = { ...attempt, sequenceNo: undefined };
      });
    });
    const { enter } = attempt;
    this.#pendingExits.clear();
    if (this.#doubtUntilMs !== undefined && enter.timestamp > this.#doubtUntilMs) this.#doubtUntilMs = undefined;
    this.#names?.keep(event.actor, enter.actor, sequenceNo);
    this.#lastCalls.set(enter.actor, sequenceNo);
    this.#current = { enter, sequenceNo };
    await this.#rewriteLostExits();
  }

  /** The name under which the calls of a client are recorded, once the first one was. */
  actorOf(client: string): string {
    return this.#names?.find(client) ?? client;
  }

  /** The same before the first call: the name that it would get now. */
  async findActor(db: Reader, client: string): Promise<FoundActor> {
    const chosen = this.#names?.find(client) === undefined ? await this.#names?.choose(db, client) : undefined;
    const actor = chosen?.actor ?? this.actorOf(client);
    const predecessors = (await this.#names?.listPredecessors(db, client, actor)) ?? [];
    return { actor, isUnconfirmed: chosen !== undefined, predecessors };
  }

  /** The number of the last call of an actor in this process. */
  lastCallOf(actor: string): number | undefined {
    return this.#lastCalls.get(actor);
  }

  /** The number of the first call of an actor in this process, unless its name is configured. */
  firstCallOf(actor: string): number | undefined {
    return this.#names?.firstCallOf(actor);
  }

  async exit(event: ToolExitEvent): Promise<void> {
    const call = this.#find(event.correlationId);
    // Without an enter entry there is nothing to close.
    if (call === undefined) return;
    const exit = toCallExit(event, call);
    if (call.sequenceNo === undefined) {
      // The database did not answer a moment ago; another attempt would only delay the refusal.
      this.#pendingExits.add(call, exit);
      throw new DatabaseError('lost', 'the exit is recorded with the next call');
    }
    const write = () =>
      this.#database.write({ durable: false, followsEnter: true }, async (transaction) =>
        assertExited(call, await exitCall(transaction, call, exit, await queryHeadAndState(transaction, call))),
      );
    try {
      const place = await retryOnce(write);
      this.#pendingExits.committed(call, exit);
      if (place !== undefined) this.#onUnchanged?.(place.index + 1);
    } catch (error) {
      this.#pendingExits.add(call, exit);
      throw error;
    }
  }

  async run<Result>(
    correlationId: string,
    work: (transaction: RecordedTransaction) => Promise<Result>,
  ): Promise<Result> {
    const call = this.#find(correlationId);
    if (call === undefined) throw new Error('a transaction was opened for a call that was not entered');
    let result: { readonly value: Result } | undefined;
    try {
      return await this.#database.write({ durable: true, followsEnter: true }, async (db) => {
        // Queried first, because that takes one round trip with the tool's own queries; no one else writes meanwhile.
        const state = queryHeadAndState(db, call);
        const value = await work({ db, locked: state, exit: (event) => this.#exitIn(db, call, event, state) });
        result = { value };
        return value;
      });
    } catch (error) {
      if (!isInDoubt(error) || result === undefined) throw error;
      if (await this.#wasCommitted(call, error)) return result.value;
      throw new DatabaseError('lost', 'the connection was lost before the commit', { cause: error });
    }
  }

  /** A new write transaction begins only after the one in doubt has ended, so it sees the result. */
  async #wasCommitted(call: OpenCall, inDoubt: unknown): Promise<boolean> {
    try {
      const look = () => this.#database.write({ durable: false }, (transaction) => queryState(transaction, call));
      return (await retryOnce(look)) === 'recorded';
    } catch (error) {
      throw new DatabaseError('unknown', (inDoubt as Error).message, { cause: error });
    }
  }

  #find(correlationId: string): OpenCall | undefined {
    return this.#current?.enter.correlationId === correlationId ? this.#current : undefined;
  }

  async #exitIn(
    db: Transaction,
    call: OpenCall,
    event: ToolExitEvent,
    state: Promise<CallState>,
  ): Promise<ExitPlace | undefined> {
    const exit = toCallExit(event, call);
    return assertExited(call, await exitCall(db, call, exit, await state));
  }

  async #createAttempt(event: ToolEnterEvent): Promise<Attempt> {
    const salt = createSalt();
    const { clock } = this.#database;
    const create = ({ actor, replaces }: ChosenName) =>
      toEnter({ ...event, actor }, this.#processId, salt, { clockId: clock.id, clockMs: clock.nowMs(), replaces });
    const names = this.#names;
    const known = names === undefined ? event.actor : names.find(event.actor);
    if (names === undefined || known !== undefined) {
      const actor = known ?? event.actor;
      return {
        enter: create({
          actor,
          replaces: this.#lastCalls.get(actor) ?? (await findReplaceable(this.#database, this.#earlier, actor)),
        }),
      };
    }
    const unnamed = create({ actor: event.actor, replaces: null });
    return { enter: unnamed, name: async (transaction) => create(await names.choose(transaction, event.actor)) };
  }

  #enter(attempt: Attempt): Promise<number> {
    const write = async (transaction: Transaction) => {
      await this.#writePending(transaction, attempt.enter);
      return enterNamed(transaction, attempt);
    };
    const hasOnlyEnter = this.#pendingExits.isEmpty && this.#doubtUntilMs === undefined && attempt.name === undefined;
    return hasOnlyEnter
      ? this.#database.enterCall(toEnteredCall(attempt.enter), write)
      : this.#database.write({ durable: false }, write);
  }

  /** The first attempt may have been committed. */
  #enterAgain(attempt: Attempt): Promise<number> {
    return this.#database.write({ durable: false }, async (transaction) => {
      await this.#writePending(transaction, attempt.enter);
      const state = await findBySalt(transaction, attempt.enter.salt);
      if (state === 'missing') return enterNamed(transaction, attempt);
      if (typeof state === 'number') return state;
      throw new Error('the call was closed as interrupted by another server before it began');
    });
  }

  async #writePending(transaction: Transaction, enter: Enter): Promise<void> {
    // The connection may be new, and a call whose exit was lost must not be taken for a duplicate enter.
    this.#pendingExits.requeueUnsyncedExits();
    await this.#pendingExits.write(transaction);
    if (this.#doubtUntilMs !== undefined) await closeDuplicateEnters(transaction, enter);
  }

  /** After an enter in one statement over a new connection. If this fails, the next call retries. */
  async #rewriteLostExits(): Promise<void> {
    this.#pendingExits.requeueUnsyncedExits();
    if (this.#pendingExits.isEmpty) return;
    await this.#database
      .write({ durable: false }, (transaction) => this.#pendingExits.write(transaction))
      .then(
        () => this.#pendingExits.clear(),
        () => undefined,
      );
  }
}

/** An enter, possibly under a name that is chosen in its transaction: then `enter` is replaced there. */
interface Attempt {
  enter: Enter;
  readonly name?: NameEnter;
}

async function enterNamed(transaction: Transaction, attempt: Attempt): Promise<number> {
  if (attempt.name !== undefined) attempt.enter = await attempt.name(transaction);
  return enterCall(transaction, attempt.enter);
}

/** Records the exit under the actor of the enter entry. */
function toCallExit(event: ToolExitEvent, { enter, sequenceNo }: OpenCall): Exit {
  return toExit({ ...event, actor: enter.actor }, enter.salt, sequenceNo);
}

function assertExited({ sequenceNo }: OpenCall, exited: ExitPlace | boolean): ExitPlace | undefined {
  if (exited === false) throw new Error(`call ${sequenceNo} was closed as interrupted by another server`);
  return exited === true ? undefined : exited;
}

/** The retry gets a new connection; whether the first attempt was committed is read from the ledger. */
function retryOnce<Result>(write: () => Promise<Result>): Promise<Result> {
  return write().catch((error: unknown) => (isRetryable(error) ? write() : Promise.reject(error)));
}

function isRetryable(error: unknown): boolean {
  return isInDoubt(error) || (error instanceof DatabaseError && error.fault === 'lost');
}

function isInDoubt(error: unknown): boolean {
  return error instanceof DatabaseError && error.fault === 'unknown';
}
