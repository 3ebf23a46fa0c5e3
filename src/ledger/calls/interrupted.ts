import type { Database, Transaction } from '../../db/database.ts';
import type { Salt } from '../../integrity/index.ts';
import { processOf } from '../presence/stale-rows.ts';
import { interruptCall } from './exit.ts';

/** Calls that have not ended. */
const OPEN_CALLS = `SELECT presence.sequence_no, salt, entry FROM presence
  JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
  LEFT JOIN call_exits ON call_exits.sequence_no = presence.sequence_no
  WHERE call_exits.sequence_no IS NULL ORDER BY presence.sequence_no`;

interface OpenRow {
  readonly sequence_no: number;
  readonly salt: Salt;
  readonly entry: string;
}

/** Closes the calls of dead processes and returns their number. Calls of live processes stay open. */
export async function closeInterruptedCalls(database: Database, actor: string, at: string): Promise<number> {
  const seen = await database.read((reader) => reader.query(OPEN_CALLS));
  if (seen.length === 0) return 0;
  return database.write({ durable: true }, async (transaction) => {
    const calls = await transaction.query<OpenRow>(OPEN_CALLS);
    // Asked together: on PostgreSQL each question is a round trip, and every other server waits.
    const alive = await Promise.all(calls.map(({ entry }) => database.isAlive(processOf(entry))));
    const dead = calls.filter((_call, place) => alive[place] === false);
    for (const { sequence_no } of dead) await interruptCall(transaction, sequence_no, { actor, at });
    return dead.length;
  });
}

/** A process runs one call at a time, so any other open call of it was entered by a lost attempt and never exits. */
export async function closeDuplicateEnters(
  transaction: Transaction,
  enter: { readonly processId: string; readonly salt: Salt; readonly actor: string; readonly at: string },
): Promise<void> {
  for (const { sequence_no, salt, entry } of await transaction.query<OpenRow>(OPEN_CALLS))
    if (processOf(entry) === enter.processId && salt !== enter.salt)
      await interruptCall(transaction, sequence_no, enter);
}
