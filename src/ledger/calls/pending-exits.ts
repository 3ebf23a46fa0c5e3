import type { Database, Transaction } from '../../db/database.ts';
import type { OpenCall } from './enter.ts';
import { type Exit, exitCall } from './exit.ts';
import { queryState } from './state.ts';

interface EndedCall {
  readonly call: OpenCall;
  readonly exit: Exit;
}

/** A PostgreSQL server has flushed what it committed three times its wal_writer_delay (200 ms by default) ago. */
const UNSYNCED_MS = 10_000;
const MAX_UNSYNCED = 1000;

/** Exits to write with the next enter: the database refused them, or a server crash may have lost them. */
export class PendingExits {
  readonly #database: Database;
  readonly #pending = new Map<string, EndedCall>();
  /** Exits committed without waiting for the disk. */
  #unsynced: EndedCall[] = [];
  #connections = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Replaces an earlier attempt: a call has one exit. */
  add(call: OpenCall, exit: Exit): void {
    this.#pending.set(exit.correlationId, { call, exit });
  }

  /** The exit was committed without waiting for the disk. */
  committed(call: OpenCall, exit: Exit): void {
    this.#pending.delete(exit.correlationId);
    if (this.#database.connectionCount() === 0) return;
    this.#unsynced.push({ call, exit });
    const syncedAt = call.enter.timestamp - UNSYNCED_MS;
    const isSynced = () => (this.#unsynced[0]?.call.enter.timestamp ?? 0) <= syncedAt;
    while (this.#unsynced.length > MAX_UNSYNCED || isSynced()) this.#unsynced.shift();
  }

  /** After a reconnect the server may have crashed, so the latest exits are checked; those present are left alone. */
  requeueUnsyncedExits(): void {
    const connections = this.#database.connectionCount();
    if (connections === this.#connections) return;
    this.#connections = connections;
    for (const { call, exit } of this.#unsynced) this.add(call, exit);
    this.#unsynced = [];
  }

  /** Writes all of them; call `clear` once the transaction is committed. */
  async write(transaction: Transaction): Promise<void> {
    // All states are queried before the first is awaited: every other writer waits for this transaction.
    const queried = [...this.#pending.values()].map(({ call, exit }) => {
      const state = queryState(transaction, call);
      // The loop below surfaces the first rejection; the others have the same cause.
      state.catch(() => undefined);
      return { call, exit, state };
    });
    for (const { call, exit, state } of queried) await exitCall(transaction, call, exit, await state);
  }

  clear(): void {
    this.#pending.clear();
  }
}
