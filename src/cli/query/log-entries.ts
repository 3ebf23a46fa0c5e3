import type { Reader } from '../../db/database.ts';
import { type Entry, parseEntry } from '../../integrity/index.ts';

/** Reads of the log that several commands share. */

export interface EntryRow {
  readonly idx: number;
  readonly entry: string;
}

/** The entries from `begin` to before `end`, in log order. */
export function listEntries(db: Reader, begin: number, end: number): Promise<EntryRow[]> {
  return db.query('SELECT idx, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx', [begin, end]);
}

/** The text of an entry; undefined if the log has no such entry. */
export async function findEntryText(db: Reader, index: number): Promise<string | undefined> {
  const [row] = await db.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [index]);
  return row?.entry;
}

/** Undefined also for an entry that cannot be parsed, which only tampering causes. */
export async function findEntry(db: Reader, index: number): Promise<Entry | undefined> {
  return parseEntry((await findEntryText(db, index)) ?? '');
}

/** The entry that ends a call; undefined while the call runs. */
export async function findExitIndex(db: Reader, sequenceNo: number): Promise<number | undefined> {
  const [row] = await db.query<{ exit_idx: number }>('SELECT exit_idx FROM call_exits WHERE sequence_no = $1', [
    sequenceNo,
  ]);
  return row?.exit_idx;
}

/** More entries than one call writes between a record and its exit. */
const MAX_ENTRIES_OF_CALL = 8;

/** The exit of the call that wrote an entry: a change and its exit are one transaction. */
export async function findExitAfter(db: Reader, index: number): Promise<Entry | undefined> {
  const rows = await db.query<{ entry: string }>(
    'SELECT entry FROM ledger_entries WHERE idx > $1 ORDER BY idx LIMIT $2',
    [index, MAX_ENTRIES_OF_CALL],
  );
  return rows.map(({ entry }) => parseEntry(entry)).find((entry) => entry?.kind === 'action.exit');
}
