import { listKeys } from '../../checkpoints/ledger-keys.ts';
import type { Reader } from '../../db/database.ts';
import { listObservationIndexes } from '../../domains/evidence/observations.ts';
import { listRedactions } from '../../domains/redaction/repository.ts';
import { listThoughtIndexes } from '../../domains/trail/repository.ts';
import { readRecords } from '../../domains/trail/session-tree.ts';
import { findSession, listOwnSessions, type SessionRow } from '../../domains/trail/sessions.ts';
import { parseId } from '../../ids.ts';
import type { BundleScope } from '../../integrity/index.ts';
import { scanCalls } from '../../ledger/calls/scan.ts';
import { callsOfTask, createTaskFinder } from '../query/call-task.ts';
import { findExitIndex, listEntries } from '../query/log-entries.ts';
import { listVersionIndexes } from '../query/record-entries.ts';
import { CommandError } from '../support/command-result.ts';

/**
 * Returns the indexes of the entries in a scope in ascending order, or undefined for all of them. They always include
 * the first entry, key entries and redaction entries.
 */
export async function selectEntries(db: Reader, scope: BundleScope, size: number): Promise<number[] | undefined> {
  if (scope.kind === 'ledger') return undefined;
  if (scope.kind === 'entry') return [scope.index];
  const chosen = new Set<number>([0, ...(await listKeys(db)).map(({ idx }) => idx)]);
  for await (const index of inScope(db, scope, size)) chosen.add(index);
  await addRedactions(db, chosen);
  return [...chosen].filter((index) => index < size).sort((left, right) => left - right);
}

/** In log order: the reason of a redaction may itself have been redacted. */
async function addRedactions(db: Reader, chosen: Set<number>): Promise<void> {
  for (const { idx, redacts } of await listRedactions(db)) if (chosen.has(redacts)) chosen.add(idx);
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
  const versions = await listVersionIndexes(db, taskNo);
  if (versions.length === 0) throw new CommandError('bad input', `no task ${taskId}`, { advice: 'run colibri list' });
  yield* versions;
  yield* await listThoughtIndexes(db, taskNo);
  yield* await listObservationIndexes(db, taskNo);
  for (const session of await listOwnSessions(db, taskNo)) yield* endsOf(session);
  const { from, ...conditions } = await callsOfTask(db, taskId);
  const findTaskOf = createTaskFinder(db);
  for await (const call of scanCalls(db, conditions, { from, to: size - 1, direction: 'forward' })) {
    if ((await findTaskOf(call)).task_id !== taskId) continue;
    yield call.sequence_no;
    const exit = await findExitIndex(db, call.sequence_no);
    if (exit !== undefined) yield exit;
  }
}

async function* ofSession(db: Reader, sessionId: string): AsyncGenerator<number> {
  const session = await findSession(db, sessionId);
  if (session === undefined)
    throw new CommandError('bad input', `no session ${sessionId}`, {
      advice: 'run colibri show to see the sessions of a task',
    });
  yield* endsOf(session);
  for await (const records of readRecords(db, session.session_no)) for (const { idx } of records) yield idx;
}

/** The entries that start and seal a session. */
function endsOf({ start_idx, finalized_idx }: SessionRow): number[] {
  return finalized_idx === null ? [start_idx] : [start_idx, finalized_idx];
}

/**
 * Everything from the first entry on that states this time or a later one. After a clock was set back, earlier ones
 * follow.
 */
async function* since(db: Reader, time: string, size: number): AsyncGenerator<number> {
  const first = await findFirstStating(db, time, size);
  if (first === size) throw new CommandError('bad input', `no entry since ${time}`);
  for (let index = first; index < size; index += 1) yield index;
}

const PAGE = 2000;

/** Reads entry by entry: a search that takes times for rising would skip entries if a clock was set back. */
async function findFirstStating(db: Reader, time: string, size: number): Promise<number> {
  for (let begin = 0; begin < size; begin += PAGE) {
    const rows = await listEntries(db, begin, Math.min(begin + PAGE, size));
    const found = rows.findIndex(({ entry }) => (/"at":"([^"]*)"/.exec(entry)?.[1] ?? '') >= time);
    if (found >= 0) return begin + found;
  }
  return size;
}
