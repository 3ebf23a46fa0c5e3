import type { Reader, Transaction } from '../../db/database.ts';
import { taskFields } from '../../domains/tasks/record.ts';
import { changeWords } from '../../domains/tasks/search.ts';
import { currentVersion, listCurrentRows } from '../../domains/tasks/versions.ts';
import {
  canonicalize,
  type Disclosed,
  disclosedDefect,
  type Entry,
  ERASED_SALT,
  type ErasableKind,
  erasedContent,
  isErasable,
  isRedactable,
  REDACTED_TYPE,
  redactionNote,
  saltedDigest,
  withoutText,
} from '../../integrity/index.ts';
import { append } from '../../ledger/append.ts';
import { createSalt } from '../../ledger/salt.ts';
import { readEntries } from '../proofs/read-entries.ts';
import { CommandError } from '../support/command-result.ts';
import { readEntryAt, taskNoOf } from './find-entries.ts';

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

interface Content {
  readonly entry: Entry;
  readonly disclosed: Disclosed;
}

/** The content of an entry, if it may be redacted. */
export async function readRedactable(db: Reader, index: number): Promise<Content> {
  const entry = await readEntryAt(db, index);
  if (entry === undefined || !isRedactable(entry.kind)) throw refusal(index, entry);
  if (entry.kind === 'action.enter' && !(await hasEnded(db, index)))
    throw new CommandError('refused', `call ${index} is still running`, { advice: 'redact it when it has ended' });
  for await (const [bundled] of readEntries(db, { indexes: [index], size: index + 1, redact: false })) {
    const disclosed = bundled?.disclosed;
    const defect = disclosed === undefined ? 'has no content' : disclosedDefect(entry, disclosed);
    if (disclosed !== undefined && defect === undefined) return { entry, disclosed };
    // Redacting would hide that the content was changed.
    throw new CommandError('tampered', `entry ${index} ${defect}`, { advice: 'run colibri verify' });
  }
  throw refusal(index, entry);
}

function refusal(index: number, entry: Entry | undefined): CommandError {
  if (entry?.kind === 'project.options')
    return new CommandError('refused', `entry ${index} sets the options of a project, which are rules and stay`);
  return new CommandError('refused', `entry ${index} (${entry?.kind ?? 'unreadable'}) has no content to redact`, {
    advice: 'name the record itself: colibri timeline prints the entries',
  });
}

/** A running server finds its call by the salt. */
async function hasEnded(db: Reader, index: number): Promise<boolean> {
  return (await db.query('SELECT 1 FROM call_exits WHERE sequence_no = $1', [index])).length > 0;
}

/** Removes the content of an entry and its salt, and appends the entry that says who did it. Returns its index. */
export async function redactEntry(db: Transaction, index: number, decision: Decision): Promise<number> {
  const { entry } = await readRedactable(db, index);
  const { kind } = entry;
  const note = redactionNote(decision);
  if (isErasable(kind)) {
    erase(db, index, kind, note);
    return appendRedaction(db, index, decision);
  }
  return appendRedaction(db, index, decision, await eraseTask(db, index, taskNoOf(entry), note));
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

/** Removes the free text of one version of a task. Returns the digest of what remains. */
async function eraseTask(db: Transaction, index: number, taskNo: number, note: string): Promise<string> {
  const salt = createSalt();
  const [current] = await listCurrentRows(db, [taskNo]);
  if (current?.event_idx !== index) {
    const sql = 'SELECT content FROM task_versions WHERE idx = $1';
    const [version] = await db.query<{ content: string }>(sql, [index]);
    const content = taskFields.toContent(withoutText(taskFields.fromContent(version?.content ?? ''), note));
    db.send('UPDATE task_versions SET salt = $2, content = $3 WHERE idx = $1', [index, salt, content]);
    return saltedDigest('task', salt, content);
  }
  const task = withoutText(taskFields.fromRow(current), note);
  const row = { ...current, ...taskFields.toRow(task), salt };
  db.send(
    'UPDATE tasks SET title = $2, description = $3, labels = $4, blocked_reason = $5, salt = $6 WHERE task_no = $1',
    [taskNo, row.title, row.description, row.labels, row.blocked_reason, salt],
  );
  db.send('DELETE FROM task_labels WHERE task_no = $1', [taskNo]);
  changeWords(db, task);
  return saltedDigest('task', salt, currentVersion(row).content ?? '');
}
