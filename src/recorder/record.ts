import type { Transaction } from '../db/database.ts';
import { isHeldStatus } from '../domains/tasks/workflows.ts';
import { formatTaskId, taskNumber } from '../ids.ts';
import { type Entry, NO_TASK, reportSession, type Salt } from '../integrity/index.ts';
import { append } from '../ledger/append.ts';
import { isDuplicatePhase } from './duplicate-phases.ts';
import { type HeldTask, NEW_SESSION, readSession, readSubagent, writeSession } from './observed-session.ts';
import { isStop, listUnanswered } from './unanswered-calls.ts';

/** One report of a client or of git, ready to be recorded. */
export interface Observation {
  /** Without the task of an event, which only the ledger knows. */
  readonly entry: Entry;
  readonly salt: Salt;
  /** Canonical JSON that the entry has a digest of; an empty object if nothing readable is kept. */
  readonly content: string;
  /** Set if the event is a call by which its session claimed a task or gave one up, or a commit for a task. */
  readonly claim?: TaskClaim | undefined;
}

export interface TaskClaim {
  readonly taskId: string;
  /** Whether the session holds the task after the call. */
  readonly isHeld: boolean;
  /** The fencing token that the call answered; null if it is not known. */
  readonly token?: number | null;
  /** Set if the answer of the call is not known: the task itself must show that the call succeeded. */
  readonly isRequest?: boolean;
}

/** Appends the reports that are not in the ledger yet, in this order. Returns how many were new. */
export async function recordObservations(db: Transaction, observations: readonly Observation[]): Promise<number> {
  let recorded = 0;
  for (const observation of observations) if (await record(db, observation)) recorded += 1;
  return recorded;
}

async function record(db: Transaction, { entry, salt, content, claim }: Observation): Promise<boolean> {
  const key = entry['key'] as string;
  const known = await db.query('SELECT 1 FROM observations WHERE key = $1', [key]);
  if (known.length > 0 || (await isDuplicatePhase(db, entry))) return false;
  const session = sessionOf(entry);
  if (session !== undefined && isStop(entry))
    for (const unanswered of await listUnanswered(db, entry, (await readSession(db, session)).openCalls))
      await record(db, unanswered);
  const state = session === undefined ? NEW_SESSION : await readSession(db, session);
  const subagent = session === undefined ? undefined : await readSubagent(db, entry);
  const { taskNo: before } = subagent ?? state;
  const after = claim === undefined ? before : await taskAfter(db, before, claim);
  const sessionTask = subagent === undefined ? after : await sessionTaskAfter(db, entry, { state, subagent }, claim);
  const held =
    subagent === undefined
      ? heldFields(entry, state, after, claim)
      : ownFields(entry, { state, subagent }, { after, sessionTask }, claim);
  // The call that claims a task and the call that gives it up both belong to it.
  const isFirstClaim = subagent === undefined && held.agent_task !== undefined;
  const givenUp = sessionTask === null ? state.taskNo : null;
  const task = namedTask(entry) ?? (isFirstClaim ? after : (givenUp ?? before ?? after));
  const complete: Entry = { ...entry, ...(task !== null && { task_id: formatTaskId(task) }), ...held };
  const index = await append(db, complete);
  db.send(
    'INSERT INTO observations (idx, key, task_no, salt, content, report_session) VALUES ($1, $2, $3, $4, $5, $6)',
    [index, key, task, salt, content, reportSession(entry)],
  );
  if (session !== undefined) writeSession(db, complete, index, state, subagent);
  return true;
}

interface HeldFields {
  readonly session_task?: string;
  readonly agent_task?: string;
  readonly claim?: number;
}

/** Which tasks are held after an event of the session, or of a sub-agent that had not claimed one before. */
function heldFields(entry: Entry, state: HeldTask, after: number | null, claim: TaskClaim | undefined): HeldFields {
  if (sessionOf(entry) === undefined) return {};
  const isClaim = claim?.isHeld === true;
  const isOfSubagent = entry['agent'] !== undefined && isClaim;
  // A task that does not exist.
  if (isOfSubagent && after === null) return sessionFields(state.taskNo);
  const token = isClaim ? (claim.token ?? null) : null;
  // A claim of a sub-agent attaches only the sub-agent, unless its session holds the task already.
  if (!isOfSubagent || after === state.taskNo) return sessionFields(after, token);
  return { ...sessionFields(state.taskNo), ...agentFields(after, token) };
}

interface Holders {
  readonly state: HeldTask;
  /** A sub-agent that has claimed a task itself. */
  readonly subagent: HeldTask;
}

interface HeldAfter {
  /** The task of the sub-agent. */
  readonly after: number | null;
  readonly sessionTask: number | null;
}

/** Which tasks are held after an event of a sub-agent that has claimed one itself. At its end it holds none. */
function ownFields(
  { phase }: Entry,
  { state, subagent }: Holders,
  { after, sessionTask }: HeldAfter,
  claim: TaskClaim | undefined,
): HeldFields {
  if (phase === 'subagent_stop') {
    const token = state.taskNo === null ? subagent.claim : null;
    return { ...sessionFields(sessionTask, token), ...agentFields(null) };
  }
  // The sub-agent keeps its own task, so that the entry is about that of the session alone.
  if (sessionTask !== state.taskNo && after !== null) return sessionFields(sessionTask);
  return { ...sessionFields(sessionTask), ...agentFields(after, claim?.isHeld === true ? claim.token : null) };
}

function sessionFields(taskNo: number | null, token: number | null = null): HeldFields {
  return taskNo === null ? {} : { session_task: formatTaskId(taskNo), ...(token !== null && { claim: token }) };
}

function agentFields(taskNo: number | null, token: number | null = null): HeldFields {
  return taskNo === null
    ? { agent_task: NO_TASK }
    : { agent_task: formatTaskId(taskNo), ...(token !== null && { claim: token }) };
}

/** Commits belong to no session, and a coverage report changes nothing about one. */
function sessionOf(entry: Entry): string | undefined {
  return entry.kind === 'observed' ? (entry['session'] as string) : undefined;
}

/** Reports name their task themselves; the end of an unanswered call belongs to the task of its beginning. */
function namedTask({ task_id }: Entry): number | null {
  return typeof task_id === 'string' ? taskNumber(task_id) : null;
}

async function taskAfter(db: Transaction, before: number | null, claim: TaskClaim): Promise<number | null> {
  if (claim.isRequest === true && !(await hasSucceeded(db, claim))) return before;
  if (claim.isHeld) return findExisting(db, claim.taskId);
  return before === taskNumber(claim.taskId) ? null : before;
}

/**
 * The task of a session after an event of a sub-agent that has claimed one itself: the sub-agent can give it up, and
 * leaves its own at its end to a session without one.
 */
async function sessionTaskAfter(
  db: Transaction,
  { phase }: Entry,
  { state, subagent }: Holders,
  claim: TaskClaim | undefined,
): Promise<number | null> {
  if (phase === 'subagent_stop' && state.taskNo === null)
    return (await isStillHeld(db, subagent)) ? subagent.taskNo : null;
  return claim?.isHeld === false ? taskAfter(db, state.taskNo, claim) : state.taskNo;
}

/** Whether the task is held, and under the same claim, if that is known. */
async function isStillHeld(db: Transaction, { taskNo, claim }: HeldTask): Promise<boolean> {
  const [task] = await db.query<{ claim_idx: number | null }>(
    'SELECT claim_idx FROM tasks WHERE task_no = $1 AND holder IS NOT NULL',
    [taskNo],
  );
  return task !== undefined && (claim === null || claim === task.claim_idx);
}

/** Whether the task is now as the call wanted it; under the claim that the call named, if it named one. */
async function hasSucceeded(db: Transaction, { taskId, isHeld, token = null }: TaskClaim): Promise<boolean> {
  const [task] = await db.query<{ status: string; claim_idx: number | null }>(
    'SELECT status, claim_idx FROM tasks WHERE task_no = $1',
    [taskNumber(taskId)],
  );
  if (task === undefined || isHeldStatus(task.status) !== isHeld) return false;
  return !isHeld || token === null || token === task.claim_idx;
}

async function findExisting(db: Transaction, taskId: string): Promise<number | null> {
  const taskNo = taskNumber(taskId);
  const found = await db.query('SELECT 1 FROM tasks WHERE task_no = $1', [taskNo]);
  return found.length > 0 ? taskNo : null;
}
