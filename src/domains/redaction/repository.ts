import type { Reader, Transaction } from '../../db/database.ts';
import {
  canonicalize,
  type Entry,
  ERASED_SALT,
  type ErasableKind,
  erasedContent,
  isErasable,
  REDACTED_TYPE,
  redactionNote,
  saltedDigest,
} from '../../integrity/index.ts';
import { append } from '../../ledger/append.ts';
import { createSalt } from '../../ledger/salt.ts';
import { eraseTaskText } from './task-text.ts';

export interface Decision {
  readonly reason: string;
  readonly actor: string;
  readonly at: string;
}

/** The entry that redacted another one; undefined if none did. */
export async function findRedactionOf(db: Reader, index: number): Promise<number | undefined> {
  const [row] = await db.query<{ idx: number }>('SELECT idx FROM redactions WHERE redacts = $1', [index]);
  return row?.idx;
}

/** The entry that redacts another one, and the index of that one. */
export interface StoredRedaction {
  readonly idx: number;
  readonly redacts: number;
}

/** All redactions, in log order. */
export function listRedactions(db: Reader): Promise<StoredRedaction[]> {
  return db.query('SELECT idx, redacts FROM redactions ORDER BY idx');
}

/** The redactions of the entries from `begin` to before `end`. */
export function listRedactionsBetween(db: Reader, begin: number, end: number): Promise<StoredRedaction[]> {
  return db.query('SELECT idx, redacts FROM redactions WHERE redacts >= $1 AND redacts < $2', [begin, end]);
}

/** Whether a call has its exit. A running server finds its call by the salt, which redaction removes. */
export async function hasEnded(db: Reader, sequenceNo: number): Promise<boolean> {
  return (await db.query('SELECT 1 FROM call_exits WHERE sequence_no = $1', [sequenceNo])).length > 0;
}

/** Removes the content of an entry and its salt, and appends the entry that says who did it. Returns its index. */
export async function eraseContent(db: Transaction, index: number, entry: Entry, decision: Decision): Promise<number> {
  const { kind } = entry;
  const note = redactionNote(decision);
  if (isErasable(kind)) {
    erase(db, index, kind, note);
    return appendRedaction(db, index, decision);
  }
  return appendRedaction(db, index, decision, await eraseTaskText(db, index, entry, note));
}

async function appendRedaction(
  db: Transaction,
  redacts: number,
  { reason, actor, at }: Decision,
  remains?: string,
): Promise<number> {
  const content = canonicalize({ reason });
  const salt = createSalt();
  const index = await append(db, {
    v: 1,
    kind: 'redaction',
    at,
    actor,
    redacts,
    reason: saltedDigest('redaction', salt, content),
    ...(remains !== undefined && { remains }),
  });
  db.send('INSERT INTO redactions (idx, redacts, salt, content) VALUES ($1, $2, $3, $4)', [
    index,
    redacts,
    salt,
    content,
  ]);
  return index;
}

const TABLE_OF: Readonly<Record<Exclude<ErasableKind, 'thought' | 'session.started'>, string>> = {
  'action.enter': 'ledger_entries',
  redaction: 'redactions',
  observed: 'observations',
  'observed.commit': 'observations',
  'observed.coverage': 'observations',
};

function erase(db: Transaction, index: number, kind: ErasableKind, note: string): void {
  const content = erasedContent(kind, note);
  switch (kind) {
    case 'thought':
      return db.send('UPDATE thoughts SET type = $2, content = $3, extras = $4, salt = $5 WHERE idx = $1', [
        index,
        REDACTED_TYPE,
        note,
        content,
        ERASED_SALT,
      ]);
    case 'session.started':
      return db.send('UPDATE sessions SET auditor_id = $2, reason = $2, salt = $3 WHERE start_idx = $1', [
        index,
        note,
        ERASED_SALT,
      ]);
    default:
      return db.send(`UPDATE ${TABLE_OF[kind]} SET salt = $2, content = $3 WHERE idx = $1`, [
        index,
        ERASED_SALT,
        content,
      ]);
  }
}
