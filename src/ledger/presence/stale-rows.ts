import type { Database } from '../../db/database.ts';
import { parseEntry } from '../../integrity/index.ts';

interface EndedRow {
  readonly sequence_no: number;
  readonly actor: string;
  readonly entry: string;
}

const ENDED = `SELECT presence.sequence_no, presence.actor, entry FROM presence
  JOIN call_exits ON call_exits.sequence_no = presence.sequence_no
  JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no`;
const NEWEST_FIRST = 'ORDER BY presence.sequence_no DESC';

/** The last call of a dead process of this actor, whose row the first call of the next process replaces. */
export async function findReplaceable(database: Database, actor: string): Promise<number | null> {
  const sql = `${ENDED} WHERE presence.actor = $1 ${NEWEST_FIRST}`;
  for (const { sequence_no, entry } of await database.read((reader) => reader.query<EndedRow>(sql, [actor])))
    if (!(await database.isAlive(processOf(entry)))) return sequence_no;
  return null;
}

/**
 * Removes what dead processes left in `presence`, and returns the number of rows. The newest row of an actor stays: it is
 * the last sign of life of an agent that may still hold a task.
 */
export async function removeStaleRows(database: Database): Promise<number> {
  const rows = await database.read((reader) => reader.query<EndedRow>(`${ENDED} ${NEWEST_FIRST}`));
  const actors = new Set<string>();
  const stale: number[] = [];
  for (const { sequence_no, actor, entry } of rows) {
    const isNewest = !actors.has(actor);
    actors.add(actor);
    if (!isNewest && !(await database.isAlive(processOf(entry)))) stale.push(sequence_no);
  }
  if (stale.length === 0) return 0;
  return database.write({ durable: false }, async (transaction) => {
    for (const sequenceNo of stale) transaction.send('DELETE FROM presence WHERE sequence_no = $1', [sequenceNo]);
    return stale.length;
  });
}

/** The process that entered a call; empty, which is no process, if the entry is unreadable. */
export function processOf(entry: string): string {
  const processId = parseEntry(entry)?.['process_id'];
  return typeof processId === 'string' ? processId : '';
}
