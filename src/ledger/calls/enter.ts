import type { EnteredCall, PresenceRow, Transaction } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { type Salt, saltedDigest } from '../../integrity/index.ts';
import type { ToolEnterEvent } from '../../middleware/audit.ts';
import { appendEncoded, type EncodedEntry, encode } from '../append.ts';
import { BLOCK } from '../stored-tree.ts';

/** A call whose enter entry was committed, or may have been. */
export interface OpenCall {
  enter: Enter;
  /** Chooses the name of the actor, if that is not confirmed and the entry has to be written again. */
  readonly name?: NameEnter | undefined;
  /** The index of the enter entry; undefined while it is unknown whether the entry was committed. */
  sequenceNo: number | undefined;
}

/** Creates the enter entry under a name that is chosen in this transaction. */
export type NameEnter = (transaction: Transaction) => Promise<Enter>;

/** An enter event as it is recorded, without the raw arguments, which may be large. */
export interface Enter extends Omit<ToolEnterEvent, 'args'> {
  readonly processId: string;
  /** Unique, so it also identifies the row of a call whose number is unknown. */
  readonly salt: Salt;
  /** Encoded before the write lock is taken. */
  readonly entry: EncodedEntry;
  readonly presence: PresenceRow;
}

export function toEnter(event: ToolEnterEvent, processId: string, salt: Salt, sign: Omit<PresenceRow, 'actor'>): Enter {
  const { tool, timestamp, correlationId, actor, at, argumentsText } = event;
  const entry = encode({
    actor,
    arguments: saltedDigest('arguments', salt, argumentsText),
    at,
    kind: 'action.enter',
    process_id: processId,
    tool,
    v: 1,
  });
  return {
    tool,
    timestamp,
    correlationId,
    actor,
    at,
    argumentsText,
    processId,
    salt,
    entry,
    presence: { actor, clockId: sign.clockId, clockMs: sign.clockMs, replaces: sign.replaces },
  };
}

/** Returns the number of the call: the index of its enter entry, unique and rising over all processes. */
export async function enterCall(transaction: Transaction, enter: Enter): Promise<number> {
  const { entry, salt, argumentsText, presence } = enter;
  const sequenceNo = await appendEncoded(transaction, entry, { salt, content: argumentsText });
  if (presence.replaces !== null)
    // After a crash of the database that lost the call, its number may be that of another actor.
    transaction.send(
      `DELETE FROM presence WHERE sequence_no = $1 AND actor = $2
       AND EXISTS (SELECT 1 FROM call_exits WHERE call_exits.sequence_no = presence.sequence_no)`,
      [presence.replaces, presence.actor],
    );
  transaction.send(
    `INSERT INTO presence (sequence_no, actor, clock_id, clock_ms)
     VALUES ($1, $2, $3, ${dialectOf(transaction).clock('$4')})`,
    [sequenceNo, presence.actor, presence.clockId, presence.clockMs],
  );
  return sequenceNo;
}

/** What the database needs to know to enter the call in one statement. */
export function toEnteredCall({ entry, salt, argumentsText, presence }: Enter): EnteredCall {
  return { entry: entry.text, leaf: entry.leaf, blockSize: BLOCK, salt, content: argumentsText, presence };
}
