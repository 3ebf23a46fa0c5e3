import type { Database, Liveness } from '../../db/database.ts';
import { parseEntry } from '../../integrity/index.ts';

export interface EndedRow {
  readonly sequence_no: number;
  readonly actor: string;
  readonly entry: string;
}

/** Keeps the newest calls of this many actors, so that `colibri agents` shows who worked lately. */
export const REMEMBERED_ACTORS = 100;

const ENDED = `SELECT presence.sequence_no, presence.actor, entry,
    CASE WHEN EXISTS (SELECT 1 FROM tasks WHERE tasks.holder = presence.actor) THEN 1 ELSE 0 END AS holds
  FROM presence
  JOIN call_exits ON call_exits.sequence_no = presence.sequence_no
  JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
  ORDER BY presence.sequence_no DESC`;

/** The newest ended call of each actor that has one. */
export type LastCalls = ReadonlyMap<string, EndedRow>;

/**
 * Removes what dead processes left in `presence`, which would otherwise grow with every new name. The newest row of an
 * actor that holds a task stays: it is its last sign of life. Returns the newest rows that are left; the first call of
 * the next process replaces one of them.
 */
export async function removeStaleRows(database: Database): Promise<LastCalls> {
  const rows = await database.read((reader) => reader.query<EndedRow & { readonly holds: number }>(ENDED));
  const newest = new Map<string, EndedRow>();
  const stale: EndedRow[] = [];
  for (const row of rows) {
    const isNeeded = !newest.has(row.actor) && (row.holds === 1 || newest.size < REMEMBERED_ACTORS);
    if (!isNeeded && !(await database.isAlive(processOf(row.entry)))) stale.push(row);
    else if (!newest.has(row.actor)) newest.set(row.actor, row);
  }
  // A process that died does not come back, and a new process of its actor has a newer row: the rows stay stale.
  if (stale.length > 0)
    await database.write({ durable: false }, async (transaction) => {
      for (const { sequence_no, actor } of stale)
        transaction.send('DELETE FROM presence WHERE sequence_no = $1 AND actor = $2', [sequence_no, actor]);
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

/** The process that entered a call; empty, which matches no process, if the entry is unreadable. */
export function processOf(entry: string): string {
  const processId = parseEntry(entry)?.['process_id'];
  return typeof processId === 'string' ? processId : '';
}
