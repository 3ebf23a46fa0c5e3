import type { Reader } from '../../db/database.ts';
import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import { type Entry, type EntryKind, parseEntry } from '../../integrity/index.ts';
import { CommandError } from '../support/command-result.ts';

/** The entries with the content of a record: of a task, one for each of its versions. In log order. */
export async function listEntriesOf(db: Reader, record: string): Promise<number[]> {
  const { letter, number } = parseRecord(record);
  const [id, sql] = queryOf(letter, number);
  const rows = await db.query<{ idx: number }>(`${sql} ORDER BY idx`, [number]);
  if (rows.length > 0) return rows.map(({ idx }) => idx);
  throw new CommandError('bad input', `there is no ${id}`, { advice: 'run colibri show or colibri timeline' });
}

/** The entries that a record can be proved by, the best one last: the newest version of a task, the seal of a session. */
export async function listEntriesToProve(db: Reader, record: string): Promise<number[]> {
  const { letter, number } = parseRecord(record);
  // The entry may be the one that introduces the key of the checkpoint, which is not there before the log is signed.
  if (letter === undefined) return [number];
  const entries = await listEntriesOf(db, record);
  if (letter !== 'A') return entries;
  const sql = 'SELECT finalized_idx AS idx FROM sessions WHERE session_no = $1 AND finalized_idx IS NOT NULL';
  return [...entries, ...(await db.query<{ idx: number }>(sql, [number])).map(({ idx }) => idx)];
}

/** An index, or an id as people write it: T-0042, t42, A-3, TH-12. */
function parseRecord(record: string): { readonly letter: string | undefined; readonly number: number } {
  const [, letter, digits] = /^(?:(t|a|th|\u0398)-?)?0*(\d{1,15})$/iu.exec(record) ?? [];
  if (digits !== undefined) return { letter: letter?.toUpperCase(), number: Number(digits) };
  throw new CommandError('bad input', `${record} is neither the index of an entry nor an id`, {
    advice: 'write 128, T-0042, A-0003 or \u0398-0012; colibri show and colibri timeline print them',
  });
}

function queryOf(letter: string | undefined, number: number): readonly [id: string, sql: string] {
  switch (letter) {
    case undefined:
      return [`entry ${number}`, 'SELECT idx FROM ledger_entries WHERE idx = $1'];
    case 'T':
      return [
        `task ${formatTaskId(number)}`,
        'SELECT idx FROM task_versions WHERE task_no = $1 UNION SELECT event_idx FROM tasks WHERE task_no = $1',
      ];
    case 'A':
      return [`session ${formatSessionId(number)}`, 'SELECT start_idx AS idx FROM sessions WHERE session_no = $1'];
    default:
      return [`thought ${formatThoughtId(number)}`, 'SELECT idx FROM thoughts WHERE thought_no = $1'];
  }
}

export async function readEntryAt(db: Reader, index: number): Promise<Entry | undefined> {
  const sql = 'SELECT entry FROM ledger_entries WHERE idx = $1';
  const [row] = await db.query<{ entry: string }>(sql, [index]);
  return parseEntry(row?.entry ?? '');
}

/** The tool whose arguments repeat the content of a record. */
const WRITTEN_BY: Readonly<Partial<Record<EntryKind, string>>> = {
  'task.created': 'task_create',
  'task.updated': 'task_update',
  'session.started': 'audit_session_start',
  thought: 'thought_record',
};

/** More entries than one call writes between a record and its exit. */
const MAX_ENTRIES_OF_CALL = 8;

/** The call that wrote an entry, whose arguments repeat the content: a change and its exit are one transaction. */
export async function findCallOf(db: Reader, index: number): Promise<number | undefined> {
  const entry = await readEntryAt(db, index);
  const tool = entry && WRITTEN_BY[entry.kind];
  if (entry === undefined || tool === undefined) return undefined;
  const sql = 'SELECT entry FROM ledger_entries WHERE idx > $1 ORDER BY idx LIMIT $2';
  const next = await db.query<{ entry: string }>(sql, [index, MAX_ENTRIES_OF_CALL]);
  const exit = next.map((row) => parseEntry(row.entry)).find((candidate) => candidate?.kind === 'action.exit');
  const number = exit?.['sequence_no'];
  if (exit?.actor !== entry.actor || typeof number !== 'number') return undefined;
  // A server without a record of calls writes between the calls of others.
  const enter = await readEntryAt(db, number);
  return enter?.kind === 'action.enter' && enter['tool'] === tool ? number : undefined;
}
