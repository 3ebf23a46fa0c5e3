import type { Reader } from '../db/database.ts';
import { findTrailTask, type ThoughtRow, type TrailTask } from '../domains/trail/repository.ts';
import { findSession, type SessionRow } from '../domains/trail/sessions.ts';
import { ColibriError, isStageCode } from '../errors.ts';
import { RecordCounter } from './fast/record-counter.ts';
import { type ChainOptions, type ChainReport, verifySession, verifyTaskChain } from './verify-chain.ts';

/** For a server: lets its verifications read each entry of the log once. */
export function createRecordCounter(): RecordCounter {
  return new RecordCounter();
}

/** What to verify: whole chains of tasks, and whole sessions. */
export interface Scope {
  readonly taskNos: readonly number[];
  readonly sessions: readonly SessionRow[];
}

export interface ScopeInput {
  readonly task_id?: string | undefined;
  readonly session_id?: string | undefined;
}

/** If the input names neither, returns the chains of the listed thoughts. */
export async function findScope(
  db: Reader,
  { task_id, session_id }: ScopeInput,
  listed: readonly ThoughtRow[],
): Promise<Scope> {
  const task = task_id === undefined ? undefined : await requireTask(db, task_id);
  const session = session_id === undefined ? undefined : await requireNamedSession(db, session_id);
  if (task === undefined && session === undefined) {
    return { taskNos: [...new Set(listed.map(({ task_no }) => task_no))], sessions: [] };
  }
  return { taskNos: task === undefined ? [] : [task.task_no], sessions: session === undefined ? [] : [session] };
}

export async function verifyScope(db: Reader, scope: Scope, options: ChainOptions): Promise<ChainReport> {
  const reports: ChainReport[] = [];
  const totalOf = (count: (report: ChainReport) => number) => reports.reduce((sum, report) => sum + count(report), 0);
  // Progress must not fall when one part ends and the next begins.
  let reached = 0;
  const continued = (): ChainOptions => {
    const before = reached;
    const progress = (done: number, total: number) => {
      reached = before + done;
      options.progress(reached, before + total);
    };
    return { ...options, progress };
  };
  for (const taskNo of scope.taskNos) reports.push(await verifyTaskChain(db, taskNo, continued()));
  for (const session of scope.sessions) reports.push(await verifySession(db, session, continued()));
  return {
    total: totalOf(({ total }) => total),
    defective: totalOf(({ defective }) => defective),
    proven: totalOf(({ proven }) => proven),
    redacted: totalOf(({ redacted }) => redacted),
    broken: reports.flatMap(({ broken }) => broken),
    brokenTotal: totalOf(({ brokenTotal }) => brokenTotal),
    trace: reports.flatMap(({ trace }) => trace),
  };
}

/** Position 0 is the session itself, not a link. */
export function positionsOf({ broken }: ChainReport): number[] {
  return [...new Set(broken.map(({ position }) => position))].filter((position) => position > 0);
}

export async function requireNamedSession(db: Reader, sessionId: string): Promise<SessionRow> {
  const session = await findSession(db, sessionId);
  if (session !== undefined) return session;
  const advice = 'call audit_session_start to open one';
  throw new ColibriError('ERR_SESSION_NOT_FOUND', `no session ${sessionId}`, { session_id: sessionId }, { advice });
}

export async function requireTask(db: Reader, taskId: string): Promise<TrailTask> {
  const task = await findTrailTask(db, taskId);
  if (task !== undefined) return task;
  const advice = 'call task_list to see existing tasks';
  throw new ColibriError('ERR_TASK_NOT_FOUND', `no task ${taskId}`, { taskId }, { advice });
}

/** audit_verify_chain has one code for a missing task and a missing session. */
export function asNotFound(thrown: unknown): never {
  if (!(thrown instanceof ColibriError) || isStageCode(thrown.code)) throw thrown;
  throw new ColibriError('ERR_NOT_FOUND', thrown.problem, thrown.facts, { advice: thrown.advice });
}
