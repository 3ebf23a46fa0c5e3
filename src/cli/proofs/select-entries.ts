import type { Reader } from '../../db/database.ts';
import { parseId } from '../../ids.ts';
import type { BundleScope } from '../../integrity/index.ts';
import { scanCalls } from '../../ledger/calls/scan.ts';
import { callsOfTask, createTaskFinder } from '../query/call-task.ts';
import { CommandError } from '../support/command-result.ts';

/**
 * Returns the indexes of the entries in a scope in ascending order, or undefined for all of them. They always include
 * the first entry, key entries and redaction entries. */
export async function selectEntries(db: Reader, scope: BundleScope, size: number): Promise<number[] | undefined> {
  if (scope.kind === 'ledger') return undefined;
  if (scope.kind === 'entry') return [scope.index];
  const chosen = new Set<number>([0, ...(await list(db, 'SELECT idx FROM ledger_keys'))]);
  for await (const index of inScope(db, scope, size)) chosen.add(index);
  await addRedactions(db, chosen);
  return [...chosen].filter((index) => index < size).sort((left, right) => left - right);
}

/** In log order: the reason of a redaction may itself have been redacted. */
async function addRedactions(db: Reader, chosen: Set<number>): Promise<void> {
  const sql = 'SELECT idx, redacts FROM redactions ORDER BY idx';
  for (const { idx, redacts } of await db.query<{ idx: number; redacts: number }>(sql))
    if (chosen.has(redacts)) chosen.add(idx);
}

function inScope(
  db: Reader,
  scope: Exclude<BundleScope, { kind: 'ledger' | 'entry' }>,
  size: number,
): AsyncIterable<number> {
  if (scope.kind === 'task') return ofTask(db, scope.task_id, size);
  return scope.kind === 'session' ? ofSession(db, scope.session_id) : since(db, scope.since, size);
}

async function* ofTask(db: Reader, taskId: string, size: number): AsyncGenerator<number> {
  const taskNo = parseId(taskId);
  const current = await list(db, 'SELECT event_idx AS idx FROM tasks WHERE task_no = $1', [taskNo]);
  if (current.length === 0) throw new CommandError('bad input', `no task ${taskId}`, { advice: 'run colibri list' });
  yield* current;
  for (const table of ['task_versions', 'thoughts', 'observations'])
    yield* await list(db, `SELECT idx FROM ${table} WHERE task_no = $1 ORDER BY idx`, [taskNo]);
  yield* await list(db, 'SELECT start_idx AS idx FROM sessions WHERE task_no = $1', [taskNo]);
  yield* await list(db, 'SELECT finalized_idx AS idx FROM sessions WHERE task_no = $1 AND finalized_idx IS NOT NULL', [
    taskNo,
  ]);
  const { from, ...conditions } = await callsOfTask(db, taskId);
  const findTaskOf = createTaskFinder(db);
  for await (const call of scanCalls(db, conditions, { from, to: size - 1, direction: 'forward' })) {
    if ((await findTaskOf(call)).task_id !== taskId) continue;
    yield call.sequence_no;
    yield* await list(db, 'SELECT exit_idx AS idx FROM call_exits WHERE sequence_no = $1', [call.sequence_no]);
  }
}

async function* ofSession(db: Reader, sessionId: string): AsyncGenerator<number> {
  const sessionNo = parseId(sessionId);
  const starts = await list(db, 'SELECT start_idx AS idx FROM sessions WHERE session_no = $1', [sessionNo]);
  if (starts.length === 0)
    throw new CommandError('bad input', `no session ${sessionId}`, {
      advice: 'run colibri show to see the sessions of a task',
    });
  yield* starts;
  yield* await list(
    db,
    'SELECT finalized_idx AS idx FROM sessions WHERE session_no = $1 AND finalized_idx IS NOT NULL',
    [sessionNo],
  );
  for (const table of ['thoughts', 'session_events'])
    yield* await list(db, `SELECT idx FROM ${table} WHERE session_no = $1 ORDER BY session_seq`, [sessionNo]);
}

/** Everything from the first entry on that states this time or a later one. After a clock was set back, earlier ones follow. */
async function* since(db: Reader, time: string, size: number): AsyncGenerator<number> {
  const first = await findFirstStating(db, time, size);
  if (first === size) throw new CommandError('bad input', `no entry since ${time}`);
  for (let index = first; index < size; index += 1) yield index;
}

const PAGE = 2000;

/** Reads entry by entry: a search that takes times for rising would skip entries if a clock was set back. */
async function findFirstStating(db: Reader, time: string, size: number): Promise<number> {
  const sql = 'SELECT entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx';
  for (let begin = 0; begin < size; begin += PAGE) {
    const rows = await db.query<{ entry: string }>(sql, [begin, Math.min(begin + PAGE, size)]);
    const found = rows.findIndex(({ entry }) => (/"at":"([^"]*)"/.exec(entry)?.[1] ?? '') >= time);
    if (found >= 0) return begin + found;
  }
  return size;
}

async function list(db: Reader, sql: string, parameters: readonly number[] = []): Promise<number[]> {
  return (await db.query<{ idx: number }>(sql, parameters)).map(({ idx }) => idx);
}
