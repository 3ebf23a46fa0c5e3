import type { Reader } from '../../db/database.ts';
import { ColibriError } from '../../errors.ts';
import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import { defineTool, type Tool } from '../../tool.ts';
import { integrityScore } from '../../verification/chain-report.ts';
import {
  asNotFound,
  createRecordCounter,
  findScope,
  positionsOf,
  requireNamedSession,
  requireTask,
  verifyScope,
} from '../../verification/verify-targets.ts';
import { cutAnswer } from './cut-list.ts';
import { listThoughts, recordThought, sealExtras, type ThoughtRow, type TrailTask } from './repository.ts';
import {
  sessionInput,
  sessionOutput,
  type ThoughtInput,
  thoughtInput,
  thoughtListInput,
  thoughtListOutput,
  thoughtOutput,
  verifyInput,
  verifyOutput,
} from './schema.ts';
import { coveringSessions, findLiveSession, type SessionRow, startSession } from './sessions.ts';

export function createTrailTools(): Tool[] {
  const recordCounter = createRecordCounter();
  return [sessionStartTool, recordTool, listTool(recordCounter), verifyTool(recordCounter)];
}

const sessionStartTool = defineTool({
  name: 'audit_session_start',
  title: 'Start a session',
  description: 'Open a session for a task before you call thought_record. Seal it with merkle_finalize.',
  inputSchema: sessionInput,
  outputSchema: sessionOutput,
  access: 'write',
  errorPattern: 'B',
  codes: ['ERR_TASK_NOT_FOUND', 'ERR_SESSION_EXISTS'],
  handle: async ({ task_id, auditor_id, reason, scope }, { db, actor, at }) => {
    const task = await requireTask(db, task_id);
    const live = await findLiveSession(db, task.task_no);
    if (live !== undefined) throw sessionExists(task_id, live);
    const session_id = await startSession(db, { task_id, auditor_id, reason, scope, at, actor });
    return { session_id, task_id, auditor_id, started_at: at, scope };
  },
});

const recordTool = defineTool({
  name: 'thought_record',
  title: 'Record a decision',
  description:
    'Record why: a decision, discovery, risk or reflection about a task, hash-chained and immutable. Needs a live session.',
  inputSchema: thoughtInput,
  outputSchema: thoughtOutput,
  access: 'write',
  codes: ['ERR_TASK_NOT_FOUND', 'ERR_SESSION_REQUIRED', 'ERR_SESSION_NOT_FOUND', 'ERR_SESSION_FINALIZED'],
  prepare: sealExtras,
  handle: async (input, { db, actor, at }, extras) => {
    const task = await requireTask(db, input.task_id);
    const session = await requireSession(db, task, input);
    return recordThought(db, { input, extras, task, sessionNo: session.session_no, at, actor });
  },
});

function listTool(recordCounter: ReturnType<typeof createRecordCounter>): Tool {
  return defineTool({
    name: 'thought_record_list',
    title: 'Read decisions',
    description: 'List thought records of a task or session, oldest first; verify_chain checks them.',
    inputSchema: thoughtListInput,
    outputSchema: thoughtListOutput,
    access: 'read',
    idempotent: true,
    codes: ['ERR_TASK_NOT_FOUND', 'ERR_SESSION_NOT_FOUND'],
    handle: async (input, { db, progress }) => {
      const { task_id, session_id } = input;
      const { rows, total } = await listThoughts(db, input);
      const scope = await findScope(db, input, rows);
      const report = input.verify_chain
        ? await verifyScope(db, scope, { withTrace: false, progress, recordCounter })
        : undefined;
      return {
        ...(task_id === undefined ? {} : { task_id }),
        ...(session_id === undefined ? {} : { session_id }),
        thought_count: total,
        thoughts: rows.map(describeThought),
        ...(report === undefined ? {} : { chain_valid: report.defective === 0, invalid_links: positionsOf(report) }),
        ...(report === undefined || report.broken.length === report.brokenTotal ? {} : { truncated: true }),
      };
    },
  });
}

function verifyTool(recordCounter: ReturnType<typeof createRecordCounter>): Tool {
  return defineTool({
    name: 'audit_verify_chain',
    title: 'Verify a chain',
    description: "Check that a task's thoughts or a session's records are complete and unchanged, layer by layer.",
    inputSchema: verifyInput,
    outputSchema: verifyOutput,
    access: 'read',
    idempotent: true,
    codes: ['ERR_NOT_FOUND'],
    handle: async (input, { db, at, progress }) => {
      const scope = await findScope(db, input, []).catch(asNotFound);
      const options = { withTrace: input.full_trace, progress, recordCounter };
      const { total, defective, redacted, broken, brokenTotal, trace } = await verifyScope(db, scope, options);
      return {
        ...(input.session_id === undefined ? {} : { session_id: input.session_id }),
        ...(input.task_id === undefined ? {} : { task_id: input.task_id }),
        chain_valid: defective === 0,
        total_records: total,
        integrity_score: integrityScore(total, defective),
        ...(redacted === 0 ? {} : { redacted_records: redacted }),
        ...cutAnswer('broken_links', { items: broken, total: brokenTotal }),
        ...(input.full_trace ? cutAnswer('trace', { items: trace, total }) : {}),
        verified_at: at,
      };
    },
  });
}

function describeThought(row: ThoughtRow) {
  const { type, content, hash, previous_hash, recorded_at, recorded_by, chain_position } = row;
  const [thought_id, task_id] = [formatThoughtId(row.thought_no), formatTaskId(row.task_no)];
  return { thought_id, task_id, type, content, hash, previous_hash, recorded_at, recorded_by, chain_position };
}

/** The session for a thought: the named one, or the task's own. */
async function requireSession(db: Reader, task: TrailTask, { task_id, session_id }: ThoughtInput): Promise<SessionRow> {
  if (session_id === undefined) {
    const own = await findLiveSession(db, task.task_no);
    if (own !== undefined) return own;
    throw sessionRequired(task_id, `${task_id} has no live session`);
  }
  const named = await requireNamedSession(db, session_id);
  if (named.finalized_idx !== null) {
    const problem = `${session_id} was sealed at ${named.finalized_at} and accepts no more records`;
    const facts = { session_id, taskId: task_id };
    throw new ColibriError('ERR_SESSION_FINALIZED', problem, facts, { advice: howToStart(task_id) });
  }
  const covering = await coveringSessions(db, {
    task_id,
    parent_id: task.parent_no === null ? null : formatTaskId(task.parent_no),
  });
  if (covering.includes(named.session_no)) return named;
  throw sessionRequired(
    task_id,
    `${session_id} covers ${formatTaskId(named.task_no)} (${named.scope}), not ${task_id}`,
  );
}

function sessionRequired(taskId: string, problem: string): ColibriError {
  return new ColibriError('ERR_SESSION_REQUIRED', problem, { taskId }, { advice: howToStart(taskId) });
}

function howToStart(taskId: string): string {
  return `open one with audit_session_start {"task_id":"${taskId}","auditor_id":"<your name>"}`;
}

function sessionExists(taskId: string, live: SessionRow): ColibriError {
  const session_id = formatSessionId(live.session_no);
  const problem = `${taskId} already has the live session ${session_id}, started by ${live.started_by} at ${live.started_at}`;
  const advice = 'use it, or seal it with merkle_finalize';
  return new ColibriError('ERR_SESSION_EXISTS', problem, { taskId, session_id }, { advice });
}
