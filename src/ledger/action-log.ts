import type { Database, Transaction } from '../db/database.ts';
import { type Salt, saltedDigest } from '../integrity/index.ts';
import type { AuditSink, ToolEnterEvent, ToolExitEvent } from '../middleware/audit.ts';
import { append } from './append.ts';
import { createSalt } from './salt.ts';

interface OpenCall {
  readonly correlationId: string;
  /** The index of the enter entry: unique and rising over all processes without a second counter. */
  readonly sequenceNo: number;
  readonly salt: Salt;
}

/** The sink that makes every call two entries of the log. Calls come one at a time. */
export class ActionLog implements AuditSink {
  readonly #database: Database;
  readonly #processId: string;
  #current: OpenCall | undefined;
  /** Exits that a failing store refused. They are written as soon as it takes entries again. */
  readonly #owed = new Map<string, { readonly call: OpenCall; readonly event: ToolExitEvent }>();

  constructor(database: Database, processId: string) {
    this.#database = database;
    this.#processId = processId;
  }

  async enter(event: ToolEnterEvent): Promise<void> {
    this.#current = undefined;
    const salt = createSalt();
    const sequenceNo = await this.#database.write({ durable: false }, async (transaction) => {
      for (const { call, event: owed } of this.#owed.values()) {
        if (await isOpen(transaction, call)) await writeExit(transaction, call, owed);
      }
      return this.#writeEnter(transaction, event, salt);
    });
    this.#owed.clear();
    this.#current = { correlationId: event.correlationId, sequenceNo, salt };
  }

  async exit(event: ToolExitEvent, transaction?: Transaction): Promise<void> {
    const call = this.#current;
    // No enter was committed for this call, so there is nothing to close.
    if (call?.correlationId !== event.correlationId) return;
    if (transaction !== undefined) return writeExit(transaction, call, event);
    try {
      await this.#database.write({ durable: false }, (own) => writeExit(own, call, event));
      this.#owed.delete(event.correlationId);
    } catch (error) {
      // In place of an earlier attempt: a call has one exit.
      this.#owed.set(event.correlationId, { call, event });
      throw error;
    }
  }

  async #writeEnter(transaction: Transaction, event: ToolEnterEvent, salt: Salt): Promise<number> {
    const { tool, actor, at, argumentsText } = event;
    const sequenceNo = await append(transaction, {
      actor,
      arguments: saltedDigest('arguments', salt, argumentsText),
      at,
      kind: 'action.enter',
      process_id: this.#processId,
      tool,
      v: 1,
    });
    transaction.send(
      `INSERT INTO calls (sequence_no, tool, actor, process_id, entered_at, arguments, salt)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [sequenceNo, tool, actor, this.#processId, at, argumentsText, salt],
    );
    return sequenceNo;
  }
}

async function writeExit(transaction: Transaction, call: OpenCall, event: ToolExitEvent): Promise<void> {
  const index = await append(transaction, {
    actor: event.actor,
    answer: saltedDigest('answer', call.salt, event.answerText),
    at: event.at,
    duration_ms: event.durationMs,
    kind: 'action.exit',
    outcome: event.outcome,
    sequence_no: call.sequenceNo,
    v: 1,
  });
  await closeCall(transaction, { ...call, index, at: event.at, outcome: event.outcome, durationMs: event.durationMs });
}

interface ClosedCall {
  readonly sequenceNo: number;
  readonly index: number;
  readonly at: string;
  readonly outcome: string;
  readonly durationMs: number | null;
}

async function isOpen(transaction: Transaction, call: OpenCall): Promise<boolean> {
  const rows = await transaction.query('SELECT 1 FROM calls WHERE sequence_no = $1 AND exit_idx IS NULL', [
    call.sequenceNo,
  ]);
  return rows.length === 1;
}

/** A call ends once. Who comes second, because others took its process for dead, has changed nothing. */
async function closeCall(transaction: Transaction, call: ClosedCall): Promise<void> {
  const closed = await transaction.query(
    `UPDATE calls SET exit_idx = $1, exited_at = $2, outcome = $3, duration_ms = $4
     WHERE sequence_no = $5 AND exit_idx IS NULL RETURNING sequence_no`,
    [call.index, call.at, call.outcome, call.durationMs, call.sequenceNo],
  );
  if (closed.length === 0) throw new Error(`call ${call.sequenceNo} was closed as interrupted by another server`);
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
      const entry = { v: 1, kind: 'action.interrupted', at, actor, sequence_no: call.sequence_no } as const;
      const index = await append(transaction, entry);
      const outcome = 'interrupted';
      await closeCall(transaction, { sequenceNo: call.sequence_no, index, at, outcome, durationMs: null });
      closed += 1;
    }
    return closed;
  });
}
