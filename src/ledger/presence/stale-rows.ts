import type { Database, Liveness } from '../../db/database.ts';
import { parseEntry } from '../../integrity/index.ts';

export interface EndedRow {
  readonly sequence_no: number;
  readonly actor: string;
  readonly entry: string;
}

const ENDED = `SELECT presence.sequence_no, presence.actor, entry FROM presence
  JOIN call_exits ON call_exits.sequence_no = presence.sequence_no
  JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
  ORDER BY presence.sequence_no DESC`;

/** The newest ended call of each actor. */
export type LastCalls = ReadonlyMap<string, EndedRow>;

/**
 * Removes what dead processes left in `presence`. The newest row of an actor stays: it is the last sign of life of an
 * agent that may still hold a task. Returns these rows; the first call of the next process replaces one of them.
 */
export async function removeStaleRows(database: Database): Promise<LastCalls> {
  const rows = await database.read((reader) => reader.query<EndedRow>(ENDED));
  const newest = new Map<string, EndedRow>();
  const stale: number[] = [];
  for (const row of rows) {
    if (!newest.has(row.actor)) newest.set(row.actor, row);
    else if (!(await database.isAlive(processOf(row.entry)))) stale.push(row.sequence_no);
  }
  if (stale.length > 0)
    await database.write({ durable: false }, async (transaction) => {
      for (const sequenceNo of stale) transaction.send('DELETE FROM presence WHERE sequence_no = $1', [sequenceNo]);
    });
  return newest;
}

/** The call of an actor's dead process, whose row the first call of the next process replaces. */
export async function findReplaceable(liveness: Liveness, lastCalls: LastCalls, actor: string): Promise<number | null> {
  const last = lastCalls.get(actor);
  if (last === undefined) return null;
  // A row that is not replaced does no harm, so a database that cannot be asked is left to the enter that follows.
  const isAlive = await liveness.isAlive(processOf(last.entry)).catch(() => true);
  return isAlive ? null : last.sequence_no;
}

/** The process that entered a call; empty, which is no process, if the entry is unreadable. */
export function processOf(entry: string): string {
  const processId = parseEntry(entry)?.['process_id'];
  return typeof processId === 'string' ? processId : '';
}
