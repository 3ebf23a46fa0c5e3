import type { Reader } from '../../db/database.ts';
import { findThought } from '../../domains/trail/repository.ts';
import { findSession } from '../../domains/trail/sessions.ts';
import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import type { EntryKind } from '../../integrity/index.ts';
import { CommandError } from '../support/command-result.ts';
import { findEntry, findExitAfter, listEntries } from './log-entries.ts';

/** The entries with the content of a record: of a task, one for each of its versions. In log order. */
export async function listEntriesOf(db: Reader, record: string): Promise<number[]> {
  const { letter, number } = parseRecord(record);
  const [id, entries] = await findRecord(db, letter, number);
  if (entries.length > 0) return entries;
  throw new CommandError('bad input', `there is no ${id}`, { advice: 'run colibri show or colibri timeline' });
}

/**
 * The entries that a record can be proved by, the best one last: the newest version of a task, the seal of a session.
 */
export async function listEntriesToProve(db: Reader, record: string): Promise<number[]> {
  const { letter, number } = parseRecord(record);
  // The entry may be the one that introduces the key of the checkpoint, which is not there before the log is signed.
  if (letter === undefined) return [number];
  const entries = await listEntriesOf(db, record);
  if (letter !== 'A') return entries;
  const seal = (await findSession(db, formatSessionId(number)))?.finalized_idx ?? null;
  return seal === null ? entries : [...entries, seal];
}

/** An index, or an id as people write it: T-0042, t42, A-3, TH-12. */
function parseRecord(record: string): { readonly letter: string | undefined; readonly number: number } {
  const [, letter, digits] = /^(?:(t|a|th|\u0398)-?)?0*(\d{1,15})$/iu.exec(record) ?? [];
  if (digits !== undefined) return { letter: letter?.toUpperCase(), number: Number(digits) };
  throw new CommandError('bad input', `${record} is neither the index of an entry nor an id`, {
    advice: 'write 128, T-0042, A-0003 or \u0398-0012; colibri show and colibri timeline print them',
  });
}

async function findRecord(
  db: Reader,
  letter: string | undefined,
  number: number,
): Promise<readonly [id: string, entries: number[]]> {
  switch (letter) {
    case undefined:
      return [`entry ${number}`, (await listEntries(db, number, number + 1)).map(({ idx }) => idx)];
    case 'T':
      return [`task ${formatTaskId(number)}`, await listVersionIndexes(db, number)];
    case 'A': {
      const id = formatSessionId(number);
      const session = await findSession(db, id);
      return [`session ${id}`, session === undefined ? [] : [session.start_idx]];
    }
    default: {
      const thought = await findThought(db, number);
      return [`thought ${formatThoughtId(number)}`, thought === undefined ? [] : [thought.idx]];
    }
  }
}

/** The entries of all versions of a task, in log order. */
export async function listVersionIndexes(db: Reader, taskNo: number): Promise<number[]> {
  const rows = await db.query<{ idx: number }>(
    `SELECT idx FROM task_versions WHERE task_no = $1 UNION SELECT event_idx AS idx FROM tasks WHERE task_no = $1
     ORDER BY idx`,
    [taskNo],
  );
  return rows.map(({ idx }) => idx);
}

/** The tool whose arguments repeat the content of a record. */
const WRITTEN_BY: Readonly<Partial<Record<EntryKind, string>>> = {
  'task.created': 'task_create',
  'task.updated': 'task_update',
  'session.started': 'audit_session_start',
  thought: 'thought_record',
};

/** The call that wrote an entry, if its arguments repeat the content. */
export async function findCallOf(db: Reader, index: number): Promise<number | undefined> {
  const entry = await findEntry(db, index);
  const tool = entry && WRITTEN_BY[entry.kind];
  if (entry === undefined || tool === undefined) return undefined;
  const exit = await findExitAfter(db, index);
  const number = exit?.['sequence_no'];
  if (exit?.actor !== entry.actor || typeof number !== 'number') return undefined;
  // A server without a record of calls writes between the calls of others.
  const enter = await findEntry(db, number);
  return enter?.kind === 'action.enter' && enter['tool'] === tool ? number : undefined;
}
