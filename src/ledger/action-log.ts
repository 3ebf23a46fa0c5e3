import { type Database, DatabaseError, type Transaction } from '../db/database.ts';
import { type Entry, encodeEntry, leafHash, type Salt, saltedDigest } from '../integrity/index.ts';
import type { AuditSink, ToolEnterEvent, ToolExitEvent } from '../middleware/audit.ts';
import { append, expectHead, type Head } from './append.ts';
import { closeCall, INTERRUPTED, interruptCall } from './close-call.ts';
import { createSalt } from './salt.ts';
import { BLOCK } from './stored-tree.ts';

/** A call whose enter entry was committed, or may have been. */
interface OpenCall {
  readonly event: ToolEnterEvent;
  /** No other call has the same, so that it also tells whose a row is. */
  readonly salt: Salt;
  /** The index of the enter entry: unique and rising over all processes without a second counter. */
  sequenceNo: number | undefined;
}

/** The sink that makes every call two entries of the log. Calls come one at a time. */
export class ActionLog implements AuditSink {
  readonly #database: Database;
  readonly #processId: string;
  #current: OpenCall | undefined;
  /** What was asked at the beginning of a transaction is as true at its end: nobody else writes meanwhile. */
  #asked: { readonly transaction: Transaction; readonly state: Promise<State> } | undefined;
  /** Exits that a failing store refused. They are written as soon as it takes entries again. */
  readonly #owed = new Map<string, { readonly call: OpenCall; readonly event: ToolExitEvent }>();

  /** Exits that did not wait for the disk: a server that crashes may lose them, and not what came before. */
  #unsynced: { readonly call: OpenCall; readonly event: ToolExitEvent }[] = [];
  #connections = 0;
  /** Set while an enter that was given up may still reach the store: what the network holds back may come late. */
  #doubtUntilMs: number | undefined;

  constructor(database: Database, processId: string) {
    this.#database = database;
    this.#processId = processId;
  }

  async enter(event: ToolEnterEvent): Promise<void> {
    this.#current = undefined;
    this.#oweWhatMayBeLost();
    const salt = createSalt();
    const enter = (find: typeof findBySalt | undefined) =>
      this.#database.write({ durable: false }, async (transaction) => {
        // The connection may be new. Whose exit was lost would otherwise be taken for a stray.
        this.#oweWhatMayBeLost();
        await this.#payOwed(transaction);
        if (this.#doubtUntilMs !== undefined) await this.#interruptStrays(transaction, event, salt);
        const state = (await find?.(transaction, salt)) ?? 'missing';
        if (state === 'missing') return this.#writeEnter(transaction, event, salt);
        if (typeof state === 'number') return state;
        throw new Error('the call was closed as interrupted by another server before it began');
      });
    const sequenceNo = await this.#enterAtOnce(event, salt, () => enter(undefined)).catch((error: unknown) => {
      if (!isWorthAnotherTry(error)) throw error;
      this.#current = { event, salt, sequenceNo: undefined };
      if (isInDoubt(error)) this.#doubtUntilMs = event.timestamp + DOUBT_MS;
      return enter(findBySalt);
    });
    this.#owed.clear();
    if (this.#doubtUntilMs !== undefined && event.timestamp > this.#doubtUntilMs) this.#doubtUntilMs = undefined;
    this.#current = { event, salt, sequenceNo };
    await this.#writeAgainWhatWasLost();
  }

  async #payOwed(transaction: Transaction): Promise<void> {
    for (const { call, event } of this.#owed.values())
      await this.#close(transaction, call, event, stateOf(transaction, call));
  }

  /** When a call was entered at once over a new connection; if it fails, the next call tries again. */
  async #writeAgainWhatWasLost(): Promise<void> {
    this.#oweWhatMayBeLost();
    if (this.#owed.size === 0) return;
    const pay = this.#database.write({ durable: false }, (transaction) => this.#payOwed(transaction));
    await pay.then(
      () => this.#owed.clear(),
      () => undefined,
    );
  }

  /** In one statement, where the store has a way and nothing else is to be written. */
  async #enterAtOnce(event: ToolEnterEvent, salt: Salt, otherwise: () => Promise<number>): Promise<number> {
    const isAlone = this.#owed.size === 0 && this.#doubtUntilMs === undefined;
    if (this.#database.writeAtOnce === undefined || !isAlone) return otherwise();
    const entry = encodeEntry(this.#enterEntry(event, salt));
    const [row] = await this.#database.writeAtOnce<{ sequence_no: number }>(ENTER_AT_ONCE, [
      leafHash(entry),
      entry,
      ...this.#callColumns(event, salt),
    ]);
    return row?.sequence_no ?? otherwise();
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
    const close = async (scope: Transaction) => {
      const state = this.#asked?.transaction === scope ? this.#asked.state : askAhead(scope, call);
      if (await this.#close(scope, call, event, state)) return;
      throw new Error(`call ${call.sequenceNo} was closed as interrupted by another server`);
    };
    if (transaction !== undefined) return close(transaction);
    try {
      const exit = () => this.#database.write({ durable: false }, close);
      await exit().catch((error: unknown) => (isWorthAnotherTry(error) ? exit() : Promise.reject(error)));
      this.#owed.delete(event.correlationId);
      if (this.#database.connections !== undefined) this.#remember(call, event);
    } catch (error) {
      // In place of an earlier attempt: a call has one exit.
      this.#owed.set(event.correlationId, { call, event });
      throw error;
    }
  }

  #remember(call: OpenCall, event: ToolExitEvent): void {
    const isOnDisk = (other: OpenCall | undefined) =>
      other !== undefined && other.event.timestamp < call.event.timestamp - UNSYNCED_MS;
    while (this.#unsynced.length > MIN_UNSYNCED && isOnDisk(this.#unsynced[0]?.call)) this.#unsynced.shift();
    this.#unsynced.push({ call, event });
  }

  /** After a new connection the last exits are looked for; those that are there are left alone. */
  #oweWhatMayBeLost(): void {
    const connections = this.#database.connections?.() ?? 0;
    if (connections === this.#connections) return;
    this.#connections = connections;
    for (const { call, event } of this.#unsynced) this.#owed.set(event.correlationId, { call, event });
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
  async #close(
    transaction: Transaction,
    call: OpenCall,
    event: ToolExitEvent,
    asked: Promise<State>,
  ): Promise<boolean> {
    const state = await asked;
    if (state === 'recorded') return true;
    if (state === 'interrupted') return false;
    // A server that crashed may have lost an enter that nothing durable came after.
    call.sequenceNo = state === 'missing' ? await this.#writeEnter(transaction, call.event, call.salt) : state;
    await writeExit(transaction, call.sequenceNo, call.salt, event);
    return true;
  }

  async #writeEnter(transaction: Transaction, event: ToolEnterEvent, salt: Salt): Promise<number> {
    const sequenceNo = await append(transaction, this.#enterEntry(event, salt));
    transaction.send(
      `INSERT INTO calls (sequence_no, tool, actor, process_id, entered_at, arguments, salt)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [sequenceNo, ...this.#callColumns(event, salt)],
    );
    return sequenceNo;
  }

  #enterEntry({ tool, actor, at, argumentsText }: ToolEnterEvent, salt: Salt): Entry {
    return {
      actor,
      arguments: saltedDigest('arguments', salt, argumentsText),
      at,
      kind: 'action.enter',
      process_id: this.#processId,
      tool,
      v: 1,
    };
  }

  #callColumns({ tool, actor, at, argumentsText }: ToolEnterEvent, salt: Salt): string[] {
    return [tool, actor, this.#processId, at, argumentsText, salt];
  }
}

/**
 * What `append` and the insert do, by the server, unless the entry fills a block: then a node has to be stored as well.
 * For PostgreSQL.
 */
const ENTER_AT_ONCE = `
  head AS (
    UPDATE ledger_head SET size = size + 1, tail = encode(sha256(convert_to(tail || CAST($1 AS TEXT), 'UTF8')), 'hex')
    FROM turn WHERE id = 1 AND (size + 1) % ${BLOCK} <> 0 RETURNING size - 1 AS idx
  ), entry AS (
    INSERT INTO ledger_entries (idx, kind, entry) SELECT idx, 'action.enter', CAST($2 AS TEXT) FROM head
  )
  INSERT INTO calls (sequence_no, tool, actor, process_id, entered_at, arguments, salt)
  SELECT idx, CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT), CAST($8 AS TEXT)
  FROM head RETURNING sequence_no`;

/** A server has on its disk what it committed three times its wal_writer_delay ago, which is 200 ms by default. */
const UNSYNCED_MS = 2000;
const MIN_UNSYNCED = 100;

/** A server gives up a machine that vanished after 20 seconds; what a client sent before does not come much later. */
const DOUBT_MS = 60_000;

/** A connection that was lost can be made again; whether the first try was committed is seen in the table. */
function isWorthAnotherTry(error: unknown): boolean {
  return isInDoubt(error) || (error instanceof DatabaseError && error.fault === 'lost');
}

function isInDoubt(error: unknown): boolean {
  return error instanceof DatabaseError && error.fault === 'unknown';
}

/** How far back a call can be that was entered in doubt a moment ago. */
const FEW_CALLS = 10_000;

/** For a call whose number is not known. */
async function findBySalt(transaction: Transaction, salt: Salt): Promise<State> {
  const [row] = await transaction.query<CallState>(
    'SELECT sequence_no, outcome FROM calls WHERE salt = $1 AND sequence_no > (SELECT MAX(sequence_no) FROM calls) - $2',
    [salt, FEW_CALLS],
  );
  return row === undefined ? 'missing' : toState(row);
}

/** Its number when it is open. */
type State = number | 'missing' | 'recorded' | 'interrupted';

/** Everything that an exit needs to know, in one question. */
function askAhead(transaction: Transaction, { sequenceNo = -1, salt }: OpenCall): Promise<State> {
  const asked = transaction.query<Head & CallState>(
    `SELECT size, tail, sequence_no, outcome FROM ledger_head LEFT JOIN calls ON sequence_no = $1 AND salt = $2
     WHERE id = 1`,
    [sequenceNo, salt],
  );
  const first = asked.then(([row]) => row ?? Promise.reject(new Error('the ledger has no head row')));
  expectHead(transaction, first);
  // A call without a number entered in doubt: where its row is, if there is one, only the salt tells.
  const state = sequenceNo === -1 ? stateOf(transaction, { salt }) : first.then(toState);
  // Who closes the call meets the failure; where nobody does, it does not matter.
  state.catch(() => undefined);
  return state;
}

interface CallState {
  readonly sequence_no: number | null;
  readonly outcome: string | null;
}

async function stateOf(
  transaction: Transaction,
  { sequenceNo, salt }: Pick<OpenCall, 'salt'> & Partial<OpenCall>,
): Promise<State> {
  if (sequenceNo === undefined) return findBySalt(transaction, salt);
  const [row] = await transaction.query<CallState>(
    'SELECT sequence_no, outcome FROM calls WHERE sequence_no = $1 AND salt = $2',
    [sequenceNo, salt],
  );
  return row === undefined ? 'missing' : toState(row);
}

function toState({ sequence_no, outcome }: CallState): State {
  if (sequence_no === null) return 'missing';
  if (outcome === null) return sequence_no;
  return outcome === INTERRUPTED ? 'interrupted' : 'recorded';
}

async function writeExit(
  transaction: Transaction,
  sequenceNo: number,
  salt: Salt,
  { actor, answerText, at, durationMs, outcome }: ToolExitEvent,
): Promise<void> {
  const index = await append(transaction, {
    actor,
    answer: saltedDigest('answer', salt, answerText),
    at,
    duration_ms: durationMs,
    kind: 'action.exit',
    outcome,
    sequence_no: sequenceNo,
    v: 1,
  });
  closeCall(transaction, { sequenceNo, index, at, outcome, durationMs });
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
