import type { Reader } from '../../db/database.ts';
import { readEvidence } from '../../domains/evidence/repository.ts';
import { findSession, listOwnSessions } from '../../domains/trail/sessions.ts';
import { formatSessionId, formatTaskId, parseId } from '../../ids.ts';
import type { Evidence } from '../../integrity/evidence/compare.ts';
import { isSessionId, isTaskId, parseEntry, parseJson } from '../../integrity/index.ts';
import type { CallConditions, RecordedCall, ScannedCall } from '../../ledger/calls/scan.ts';
import { findExitAfter } from './log-entries.ts';
import { listVersionIndexes } from './record-entries.ts';

/** One line of `colibri log --json`. */
export interface LoggedCall extends RecordedCall {
  readonly task_id: string | null;
  /** The thought that the call recorded. */
  readonly thought_id?: string;
  /** What was observed of the tests and the commit that it names. */
  readonly evidence?: readonly Omit<Evidence, 'thought_id'>[];
}

const CHANGES: ReadonlySet<string> = new Set(['task.created', 'task.updated', 'thought', 'session.started']);

/** Returns a function that finds the task of a call: named by it, created by it, or covered by the session it names. */
export function createTaskFinder(db: Reader): (call: ScannedCall) => Promise<LoggedCall> {
  const sessions = new Map<string, string | null>();
  const find = async (text: string, change: string | null): Promise<string | null> => {
    const named = parseArguments(text);
    const taskId = named['task_id'] ?? named['id'];
    if (isText(taskId) && isTaskId(taskId)) return taskId;
    const sessionId = named['session_id'];
    if (isText(sessionId) && isSessionId(sessionId)) {
      const found = sessions.get(sessionId) ?? (await findSessionTask(db, sessionId));
      sessions.set(sessionId, found);
      return found;
    }
    // If the arguments of a call were redacted, its change still names the task.
    const entry = parseEntry(change ?? '');
    const changed = entry !== undefined && CHANGES.has(entry.kind) ? entry['task_id'] : undefined;
    return isText(changed) ? changed : null;
  };
  return async ({ change, ...call }) => {
    const thought = call.tool === 'thought_record' ? parseEntry(change ?? '')?.['thought_id'] : undefined;
    return {
      ...call,
      task_id: await find(call.arguments, change),
      ...(isText(thought) ? { thought_id: thought } : {}),
    };
  };
}

/** Returns a function that adds the evidence of a recorded thought; the evidence of a task is read once. */
export function createEvidenceFinder(db: Reader): (call: LoggedCall) => Promise<LoggedCall> {
  const known = new Map<string, readonly Evidence[]>();
  return async (call) => {
    const { task_id, thought_id } = call;
    if (task_id === null || thought_id === undefined) return call;
    const all = known.get(task_id) ?? (await readEvidence(db, parseId(task_id))).items;
    known.set(task_id, all);
    const evidence = all.filter((item) => item.thought_id === thought_id).map(({ thought_id: _id, ...item }) => item);
    return evidence.length === 0 ? call : { ...call, evidence };
  };
}

/** Conditions that every call about the task meets; others may meet them too. */
export async function callsOfTask(db: Reader, taskId: string): Promise<CallConditions & { readonly from: number }> {
  const taskNo = parseId(taskId);
  const sessions = await listOwnSessions(db, taskNo);
  const ids = [taskId, ...sessions.map(({ session_no }) => formatSessionId(session_no))];
  const creation = await findCreation(db, taskNo);
  return {
    texts: ids.map((id) => JSON.stringify(id)),
    numbers: [...(creation === undefined ? [] : [creation]), ...(await listRedactedCalls(db, taskId))],
    from: creation ?? 0,
  };
}

/** The calls that changed the task and no longer name it in their arguments. */
async function listRedactedCalls(db: Reader, taskId: string): Promise<number[]> {
  const rows = await db.query<{ redacts: number }>(
    `SELECT redacts FROM redactions JOIN call_exits ON call_exits.sequence_no = redacts
     JOIN ledger_entries AS change ON change.idx = call_exits.exit_idx - 1 WHERE change.entry LIKE $1`,
    [`%"task_id":"${taskId}"%`],
  );
  return rows.map(({ redacts }) => redacts);
}

/** The number of the call that created the task. */
async function findCreation(db: Reader, taskNo: number): Promise<number | undefined> {
  const [first = -1] = await listVersionIndexes(db, taskNo);
  const number = (await findExitAfter(db, first))?.['sequence_no'];
  return typeof number === 'number' ? number : undefined;
}

async function findSessionTask(db: Reader, sessionId: string): Promise<string | null> {
  const session = await findSession(db, sessionId);
  return session === undefined ? null : formatTaskId(session.task_no);
}

/** What a client sent may be anything. */
function parseArguments(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
