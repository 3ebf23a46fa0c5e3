import type { Reader, SqlValue, Transaction } from '../../db/database.ts';
import { formatTaskId, formatThoughtId, sessionNumber, taskNumber } from '../../ids.ts';
import { type Digest, type Salt, saltedDigest, thoughtHash } from '../../integrity/index.ts';
import { append } from '../../ledger/append.ts';
import { nextNumber } from '../../ledger/counters.ts';
import { createSalt } from '../../ledger/salt.ts';
import { isBareApproval } from './approval.ts';
import type { CutList } from './cut-list.ts';
import { extrasOf, type ThoughtInput, type ThoughtListInput } from './schema.ts';
import { joinSessions } from './sessions.ts';

export interface ThoughtRow {
  readonly thought_no: number;
  readonly idx: number;
  readonly task_no: number;
  readonly chain_position: number;
  readonly attempt: number;
  readonly session_no: number;
  readonly session_seq: number;
  readonly type: string;
  readonly content: string;
  readonly recorded_at: string;
  readonly recorded_by: string;
  readonly previous_hash: string | null;
  readonly hash: string;
  readonly extras: string;
  readonly salt: string;
}

/** The part of a task that the trail uses. */
export interface TrailTask {
  readonly task_no: number;
  readonly parent_no: number | null;
  readonly attempt: number;
}

export async function findTrailTask(db: Reader, taskId: string): Promise<TrailTask | undefined> {
  const [row] = await db.query<TrailTask>('SELECT task_no, parent_no, attempt FROM tasks WHERE task_no = $1', [
    taskNumber(taskId),
  ]);
  return row;
}

/** Whether an attempt has a thought that says why; an approval without a text of its own does not. */
export async function hasReasonInAttempt(db: Reader, taskNo: number, attempt: number): Promise<boolean> {
  const isReason = ({ content, extras }: Pick<ThoughtRow, 'content' | 'extras'>) =>
    !isBareApproval(formatTaskId(taskNo), content, extras);
  // Attempts only rise, so the last thought decides in most cases.
  const [last] = await db.query<Pick<ThoughtRow, 'attempt' | 'content' | 'extras'>>(
    'SELECT attempt, content, extras FROM thoughts WHERE task_no = $1 ORDER BY chain_position DESC LIMIT 1',
    [taskNo],
  );
  if (last?.attempt !== attempt) return false;
  if (isReason(last)) return true;
  const rows = await db.query<Pick<ThoughtRow, 'content' | 'extras'>>(
    'SELECT content, extras FROM thoughts WHERE task_no = $1 AND attempt = $2',
    [taskNo, attempt],
  );
  return rows.some(isReason);
}

export async function listThoughts(
  db: Reader,
  input: ThoughtListInput,
): Promise<{ rows: ThoughtRow[]; total: number }> {
  const parameters: SqlValue[] = [];
  const add = (value: SqlValue) => `$${parameters.push(value)}`;
  const conditions = [
    input.task_id && `task_no = ${add(taskNumber(input.task_id))}`,
    input.session_id && `session_no = ${add(sessionNumber(input.session_id))}`,
    input.type && `type = ${add(input.type)}`,
  ].filter((condition) => condition);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  // Each is the order of the log; the first two come from an index.
  const order = input.task_id ? 'chain_position' : input.session_id ? 'session_seq' : 'thought_no';
  const [count] = await db.query<{ total: number }>(`SELECT COUNT(*) AS total FROM thoughts ${where}`, parameters);
  const rows = await db.query<ThoughtRow>(
    `SELECT * FROM thoughts ${where} ORDER BY ${order} LIMIT ${add(input.limit)} OFFSET ${add(input.offset)}`,
    parameters,
  );
  return { rows, total: count?.total ?? 0 };
}

export async function findThought(db: Reader, thoughtNo: number): Promise<ThoughtRow | undefined> {
  const [row] = await db.query<ThoughtRow>('SELECT * FROM thoughts WHERE thought_no = $1', [thoughtNo]);
  return row;
}

/** The thoughts of a task after a position in its chain, oldest first. */
export function listThoughtsAfter(db: Reader, taskNo: number, position: number, limit: number): Promise<ThoughtRow[]> {
  return db.query(
    'SELECT * FROM thoughts WHERE task_no = $1 AND chain_position > $2 ORDER BY chain_position LIMIT $3',
    [taskNo, position, limit],
  );
}

/** Both have an index, so that a long list costs no more than its end. */
const ORDER_IN = { task_no: 'chain_position', session_no: 'session_seq' } as const;

/** The last thoughts of a task or of a session, oldest first. */
export async function listLastThoughts(
  db: Reader,
  column: keyof typeof ORDER_IN,
  number: number,
  limit: number,
): Promise<CutList<ThoughtRow>> {
  const rows = await db.query<ThoughtRow>(
    `SELECT * FROM thoughts WHERE ${column} = $1 ORDER BY ${ORDER_IN[column]} DESC LIMIT $2`,
    [number, limit],
  );
  const items = rows.reverse();
  if (items.length < limit) return { items, total: items.length };
  const [all] = await db.query<{ total: number }>(`SELECT COUNT(*) AS total FROM thoughts WHERE ${column} = $1`, [
    number,
  ]);
  return { items, total: all?.total ?? items.length };
}

/** The entries of all thoughts of a task. */
export async function listThoughtIndexes(db: Reader, taskNo: number): Promise<number[]> {
  const rows = await db.query<{ idx: number }>('SELECT idx FROM thoughts WHERE task_no = $1 ORDER BY idx', [taskNo]);
  return rows.map(({ idx }) => idx);
}

/** The tasks with a thought that names a commit. */
export async function listTasksNamingCommits(db: Reader): Promise<number[]> {
  const rows = await db.query<{ task_no: number }>(
    `SELECT DISTINCT task_no FROM thoughts WHERE extras LIKE '%"commit_sha"%'`,
  );
  return rows.map(({ task_no }) => task_no);
}

const MAX_LINES = 500;

/** The last thoughts of a task as one line each, oldest first. */
export async function listThoughtLines(db: Reader, taskNo: number): Promise<CutList<string>> {
  const rows = await db.query<ThoughtRow>(
    'SELECT * FROM thoughts WHERE task_no = $1 ORDER BY chain_position DESC LIMIT $2',
    [taskNo, MAX_LINES],
  );
  // The chain is numbered from 1 without gaps.
  const total = rows[0]?.chain_position ?? 0;
  const items = rows.reverse().map(({ thought_no, recorded_at, type, recorded_by, content }) => {
    const text = content.replaceAll(/\s+/g, ' ').trim();
    return `${formatThoughtId(thought_no)} ${recorded_at} ${type} by ${recorded_by}: ${text}`;
  });
  return { items, total };
}

/** The fields of a thought that its hash does not cover, with the digest that the log holds. */
export interface SealedExtras {
  readonly text: string;
  readonly salt: Salt;
  readonly digest: Digest;
}

export function sealExtras(input: ThoughtInput): SealedExtras {
  const [text, salt] = [extrasOf(input), createSalt()];
  return { text, salt, digest: saltedDigest('extras', salt, text) };
}

export interface Recording {
  readonly input: ThoughtInput;
  readonly extras: SealedExtras;
  readonly task: TrailTask;
  readonly sessionNo: number;
  readonly at: string;
  readonly actor: string;
}

/** Appends the thought to the chain of its task, to its session and to the log. */
export async function recordThought(db: Transaction, { input, extras, task, sessionNo, at, actor }: Recording) {
  const { task_id, type, content } = input;
  const [last] = await db.query<{ hash: string; chain_position: number }>(
    'SELECT hash, chain_position FROM thoughts WHERE task_no = $1 ORDER BY chain_position DESC LIMIT 1',
    [task.task_no],
  );
  const previous_hash = last?.hash ?? null;
  const chain_position = (last?.chain_position ?? 0) + 1;
  const hash = thoughtHash({ task_id, type, content, previous_hash, recorded_at: at, recorded_by: actor });
  const thoughtNo = await nextNumber(db, 'thought');
  const thought_id = formatThoughtId(thoughtNo);
  const [membership] = await joinSessions(db, [sessionNo]);
  if (membership === undefined) throw new Error('a thought without a session');
  const index = await append(db, {
    actor,
    at,
    attempt: task.attempt,
    chain_position,
    extras: extras.digest,
    hash,
    kind: 'thought',
    ...membership,
    task_id,
    thought_id,
    v: 1,
  });
  db.send(
    `INSERT INTO thoughts (thought_no, idx, task_no, chain_position, attempt, session_no, session_seq,
                           type, content, recorded_at, recorded_by, previous_hash, hash, extras, salt)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      thoughtNo,
      index,
      task.task_no,
      chain_position,
      task.attempt,
      sessionNo,
      membership.session_seq,
      type,
      content,
      at,
      actor,
      previous_hash,
      hash,
      extras.text,
      extras.salt,
    ],
  );
  return {
    thought_id,
    task_id: formatTaskId(task.task_no),
    type,
    hash,
    previous_hash,
    recorded_at: at,
    recorded_by: actor,
    chain_position,
    session_id: membership.session_id,
  };
}
