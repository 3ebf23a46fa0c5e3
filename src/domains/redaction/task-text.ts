import type { SqlValue, Transaction } from '../../db/database.ts';
import { parseId } from '../../ids.ts';
import { type Entry, saltedDigest, withoutText } from '../../integrity/index.ts';
import { createSalt } from '../../ledger/salt.ts';
import { type TaskRow, taskFields, toColumns, WAITING } from '../tasks/record.ts';
import { changeWords } from '../tasks/search.ts';
import { listCurrentRows } from '../tasks/versions.ts';

/** Removes the free text of one version of a task. Returns the digest of what remains. */
export async function eraseTaskText(db: Transaction, index: number, entry: Entry, note: string): Promise<string> {
  const taskNo = parseId(entry['task_id'] as string);
  const [current] = await listCurrentRows(db, [taskNo]);
  const salt = createSalt();
  const content =
    current?.event_idx === index ? eraseCurrent(db, current, salt, note) : await eraseEarlier(db, index, salt, note);
  return saltedDigest('task', salt, content);
}

async function eraseEarlier(db: Transaction, index: number, salt: string, note: string): Promise<string> {
  const sql = 'SELECT content FROM task_versions WHERE idx = $1';
  const [version] = await db.query<{ content: string }>(sql, [index]);
  const content = withoutText(version?.content ?? '', note);
  db.send('UPDATE task_versions SET salt = $2, content = $3 WHERE idx = $1', [index, salt, content]);
  return content;
}

function eraseCurrent(db: Transaction, current: TaskRow, salt: string, note: string): string {
  const content = withoutText(taskFields.toContent(taskFields.fromRow(current)), note);
  const task = taskFields.fromContent(content);
  const stored: Readonly<Record<string, SqlValue>> = { ...current };
  const { event_idx, claim_idx } = current;
  const columns = toColumns(task, { event_idx, claim_idx, salt }, current.is_ready === WAITING);
  const changed = Object.entries(columns).filter(([name, value]) => stored[name] !== value);
  const assignments = changed.map(([name], place) => `${name} = $${place + 2}`).join(', ');
  const values = changed.map(([, value]) => value);
  db.send(`UPDATE tasks SET ${assignments} WHERE task_no = $1`, [current.task_no, ...values]);
  db.send('DELETE FROM task_labels WHERE task_no = $1', [current.task_no]);
  changeWords(db, task);
  return content;
}
