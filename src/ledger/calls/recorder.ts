import { type Database, DatabaseError, type Transaction } from '../../db/database.ts';
import { type Salt, saltedDigest } from '../../integrity/index.ts';
import type { AuditSink, ToolEnterEvent, ToolExitEvent } from '../../middleware/audit.ts';
import { appendEncoded, type EncodedEntry, encode } from '../append.ts';
import { createSalt } from '../salt.ts';
import { BLOCK } from '../stored-tree.ts';
import { type Exit, exitCall, interruptCall, toExit } from './close.ts';
import { askAhead, type CallKey, findBySalt, type State, stateOf } from './state.ts';

/** A call whose enter entry was committed, or may have been. */
interface OpenCall extends CallKey {
  readonly event: Enter;
  /** The index of the enter entry: unique and rising over all processes without a second counter. */
  sequenceNo: number | undefined;
}

/** What is recorded of an enter event, and can be kept for a while: the arguments as they came may be long. */
type Enter = Omit<ToolEnterEvent, 'args'>;

interface EndedCall {
  readonly call: OpenCall;
  readonly exit: Exit;
}

/** The sink that makes every call two entries of the log. Calls come one at a time. */
export class CallRecorder implements AuditSink {
  readonly #database: Database;
  readonly #processId: string;
  #current: OpenCall | undefined;
  /** What was asked at the beginning of a transaction is as true at its end: nobody else writes meanwhile. */
  #asked: { readonly transaction: Transaction; readonly state: Promise<State> } | undefined;
  /** Exits that a failing store refused. They are written as soon as it takes entries again. */
  readonly #owed = new Map<string, EndedCall>();

  /** Exits that did not wait for the disk: a server that crashes may lose them, and not what came before. */
  #unsynced: EndedCall[] = [];
  #connections = 0;
  /** Set while an enter that was given up may still reach the store: what the network holds back may come late. */
  #doubtUntilMs: number | undefined;

  constructor(database: Database, processId: string) {
    this.#database = database;
    this.#processId = processId;
  }

  async enter(event: ToolEnterEvent): Promise<void> {
    this.#current = undefined;
    this.#requeueUnsyncedExits();
    const salt = createSalt();
    const entry = this.#encodeEnter(event, salt);
    const enter = async (transaction: Transaction, find: typeof findBySalt | undefined) => {
      // The connection may be new. Whose exit was lost would otherwise be taken for a stray.
      this.#requeueUnsyncedExits();
      await this.#writePendingExits(transaction);
      if (this.#doubtUntilMs !== undefined) await this.#interruptStrays(transaction, event, salt);
      const state = (await find?.(transaction, salt)) ?? 'missing';
      if (state === 'missing') return this.#writeEnter(transaction, event, salt, entry);
      if (typeof state === 'number') return state;
      throw new Error('the call was closed as interrupted by another server before it began');
    };
    const first = (transaction: Transaction) => enter(transaction, undefined);
    const isAlone = this.#owed.size === 0 && this.#doubtUntilMs === undefined;
    const call = { entry: entry.text, leaf: entry.leaf, blockSize: BLOCK, columns: this.#callColumns(event, salt) };
    const entered = isAlone ? this.#database.enterCall(call, first) : this.#database.write({ durable: false }, first);
    const sequenceNo = await entered.catch((error: unknown) => {
      if (!isWorthAnotherTry(error)) throw error;
      this.#current = { event: toEnter(event), salt, sequenceNo: undefined };
      if (isInDoubt(error)) this.#doubtUntilMs = event.timestamp + DOUBT_MS;
      return this.#database.write({ durable: false }, (transaction) => enter(transaction, findBySalt));
    });
    this.#owed.clear();
    if (this.#doubtUntilMs !== undefined && event.timestamp > this.#doubtUntilMs) this.#doubtUntilMs = undefined;
    this.#current = { event: toEnter(event), salt, sequenceNo };
    await this.#writeAgainWhatWasLost();
  }

  async #writePendingExits(transaction: Transaction): Promise<void> {
    // All are asked for at once: after a busy time there are many, and everybody waits for this turn to end.
    const owed = [...this.#owed.values()].map(({ call, exit }) => ({ call, exit, state: stateOf(transaction, call) }));
    // Who closes the first call meets the failure; with it the others fail as well.
    for (const { state } of owed) state.catch(() => undefined);
    for (const { call, exit, state } of owed) await this.#close(transaction, call, exit, state);
  }

  /** When a call was entered at once over a new connection; if it fails, the next call tries again. */
  async #writeAgainWhatWasLost(): Promise<void> {
    this.#requeueUnsyncedExits();
    if (this.#owed.size === 0) return;
    const pay = this.#database.write({ durable: false }, (transaction) => this.#writePendingExits(transaction));
    await pay.then(
      () => this.#owed.clear(),
      () => undefined,
    );
  }

  /** Calls come one at a time: what else this process has open was entered twice, and nobody else will end it. */
  async #interruptStrays(transaction: Transaction, event: ToolEnterEvent, ownSalt: Salt): Promise<void> {
    const strays = await transaction.query<{ sequence_no: number }>(
      'SELECT sequence_no FROM calls WHERE exit_idx IS NULL AND process_id = $1 AND salt <> $2 ORDER BY sequence_no',
      [this.#processId, ownSalt],
    );
    for (const { sequence_no } of strays) await interruptCall(transaction, sequence_no, event);
  }

  prepareExit(correlationId: string, transaction: Transaction): void {
    if (this.#current?.event.correlationId !== correlationId) return;
    this.#asked = { transaction, state: askAhead(transaction, this.#current) };
  }

  async exit(event: ToolExitEvent, transaction?: Transaction): Promise<void> {
    const call = this.#current;
    // No enter was committed for this call, so there is nothing to close.
    if (call?.event.correlationId !== event.correlationId) return;
    const exit = toExit(event, call.salt, call.sequenceNo);
    const close = async (scope: Transaction) => {
      const state = this.#asked?.transaction === scope ? this.#asked.state : askAhead(scope, call);
      if (await this.#close(scope, call, exit, state)) return;
      throw new Error(`call ${call.sequenceNo} was closed as interrupted by another server`);
    };
    if (transaction !== undefined) return close(transaction);
    try {
      const write = () => this.#database.write({ durable: false }, close);
      await write().catch((error: unknown) => (isWorthAnotherTry(error) ? write() : Promise.reject(error)));
      this.#owed.delete(exit.correlationId);
      this.#remember({ call, exit });
    } catch (error) {
      // In place of an earlier attempt: a call has one exit.
      this.#owed.set(exit.correlationId, { call, exit });
      throw error;
    }
  }

  #remember(ended: EndedCall): void {
    this.#unsynced.push(ended);
    const syncedAt = ended.call.event.timestamp - UNSYNCED_MS;
    const isSynced = () => (this.#unsynced[0]?.call.event.timestamp ?? 0) <= syncedAt;
    while (this.#unsynced.length > MAX_UNSYNCED || isSynced()) this.#unsynced.shift();
  }

  /** After a new connection the last exits are looked for; those that are there are left alone. */
  #requeueUnsyncedExits(): void {
    const connections = this.#database.connectionCount();
    if (connections === this.#connections) return;
    this.#connections = connections;
    for (const { call, exit } of this.#unsynced) this.#owed.set(exit.correlationId, { call, exit });
    this.#unsynced = [];
  }

  async wasRecorded(correlationId: string): Promise<boolean> {
    const call = this.#current;
    if (call?.event.correlationId !== correlationId) return false;
    // A writer's turn comes when the transaction in doubt has ended, one way or the other.
    const look = () => this.#database.write({ durable: false }, (turn) => stateOf(turn, call));
    const state = await look().catch((error: unknown) => (isWorthAnotherTry(error) ? look() : Promise.reject(error)));
    return state === 'recorded';
  }

  /** A call ends once: false when others took its process for dead and closed it. */
  async #close(transaction: Transaction, call: OpenCall, exit: Exit, asked: Promise<State>): Promise<boolean> {
    const state = await asked;
    if (state === 'recorded') return true;
    if (state === 'interrupted') return false;
    // A server that crashed may have lost an enter that nothing durable came after.
    if (state === 'missing') {
      const { event, salt } = call;
      call.sequenceNo = await this.#writeEnter(transaction, event, salt, this.#encodeEnter(event, salt));
    } else call.sequenceNo = state;
    await exitCall(transaction, call.sequenceNo, exit);
    return true;
  }

  async #writeEnter(transaction: Transaction, event: Enter, salt: Salt, entry: EncodedEntry): Promise<number> {
    const sequenceNo = await appendEncoded(transaction, entry);
    transaction.send(
      `INSERT INTO calls (sequence_no, tool, actor, process_id, entered_at, arguments, salt)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [sequenceNo, ...this.#callColumns(event, salt)],
    );
    return sequenceNo;
  }

  #encodeEnter({ tool, actor, at, argumentsText }: Enter, salt: Salt): EncodedEntry {
    return encode({
      actor,
      arguments: saltedDigest('arguments', salt, argumentsText),
      at,
      kind: 'action.enter',
      process_id: this.#processId,
      tool,
      v: 1,
    });
  }

  #callColumns({ tool, actor, at, argumentsText }: Enter, salt: Salt): string[] {
    return [tool, actor, this.#processId, at, argumentsText, salt];
  }
}

/** A server has on its disk what it committed three times its wal_writer_delay ago, which is 200 ms by default. */
const UNSYNCED_MS = 10_000;
const MAX_UNSYNCED = 1000;

/** A server gives up a machine that vanished after 20 seconds; what a client sent before does not come much later. */
const DOUBT_MS = 60_000;

/** A connection that was lost can be made again; whether the first try was committed is seen in the table. */
function isWorthAnotherTry(error: unknown): boolean {
  return isInDoubt(error) || (error instanceof DatabaseError && error.fault === 'lost');
}

function isInDoubt(error: unknown): boolean {
  return error instanceof DatabaseError && error.fault === 'unknown';
}

function toEnter({ tool, timestamp, correlationId, actor, at, argumentsText }: ToolEnterEvent): Enter {
  return { tool, timestamp, correlationId, actor, at, argumentsText };
}

const OPEN_CALLS = 'SELECT sequence_no, process_id FROM calls WHERE exit_idx IS NULL ORDER BY sequence_no';

/** Closes the calls whose process died; those of a living process are left alone. Returns how many there were. */
export async function closeInterruptedCalls(database: Database, actor: string, at: string): Promise<number> {
  const seen = await database.read((reader) => reader.query(OPEN_CALLS));
  if (seen.length === 0) return 0;
  return database.write({ durable: true }, async (transaction) => {
    let closed = 0;
    for (const call of await transaction.query<{ sequence_no: number; process_id: string }>(OPEN_CALLS)) {
      if (await database.isAlive(call.process_id)) continue;
      await interruptCall(transaction, call.sequence_no, { actor, at });
      closed += 1;
    }
    return closed;
  });
}
