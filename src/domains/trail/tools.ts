import type { Reader } from '../../db/database.ts';
import { ColibriError } from '../../errors.ts';
import { formatSessionId, formatTaskId } from '../../ids.ts';
import { defineTool, type Tool } from '../../tool.ts';
import { findTrailTask, recordThought, type TrailTask } from './repository.ts';
import { sessionInput, sessionOutput, type ThoughtInput, thoughtInput, thoughtOutput } from './schema.ts';
import { coveringSessions, findLiveSession, findSession, type SessionRow, startSession } from './sessions.ts';

export function createTrailTools(): Tool[] {
  return [
    defineTool({
      name: 'audit_session_start',
      title: 'Start a session',
      description: 'Open a session for a task before recording thoughts about it. merkle_finalize seals it.',
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
    }),
    defineTool({
      name: 'thought_record',
      title: 'Record a decision',
      description:
        'Write down why: a decision, discovery, risk or reflection about a task, chained and never changed. Needs a session.',
      inputSchema: thoughtInput,
      outputSchema: thoughtOutput,
      access: 'write',
      codes: ['ERR_TASK_NOT_FOUND', 'ERR_SESSION_REQUIRED', 'ERR_SESSION_NOT_FOUND', 'ERR_SESSION_FINALIZED'],
      handle: async (input, { db, actor, at }) => {
        const task = await requireTask(db, input.task_id);
        const session = await requireSession(db, task, input);
        return recordThought(db, { input, task, sessionNo: session.session_no, at, actor });
      },
    }),
  ];
}

async function requireTask(db: Reader, taskId: string): Promise<TrailTask> {
  const task = await findTrailTask(db, taskId);
  if (task !== undefined) return task;
  throw new ColibriError('ERR_TASK_NOT_FOUND', `no task ${taskId}; task_list shows those there are`, { taskId });
}

/** The session that takes the thought: the one named, else the task's own. */
async function requireSession(db: Reader, task: TrailTask, { task_id, session_id }: ThoughtInput): Promise<SessionRow> {
  if (session_id === undefined) {
    const own = await findLiveSession(db, task.task_no);
    if (own !== undefined) return own;
    throw sessionRequired(task_id, `${task_id} has no live session`);
  }
  const named = await findSession(db, session_id);
  if (named === undefined) throw new ColibriError('ERR_SESSION_NOT_FOUND', `no session ${session_id}`, { session_id });
  if (named.finalized_idx !== null) {
    const message = `${session_id} is sealed since ${named.finalized_at} and takes no more records; ${howToStart(task_id)}`;
    throw new ColibriError('ERR_SESSION_FINALIZED', message, { session_id, taskId: task_id });
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
  return new ColibriError('ERR_SESSION_REQUIRED', `${problem}; ${howToStart(taskId)}`, { taskId });
}

function howToStart(taskId: string): string {
  return `open one with audit_session_start {"task_id":"${taskId}","auditor_id":"<your name>"}`;
}

function sessionExists(taskId: string, live: SessionRow): ColibriError {
  const session_id = formatSessionId(live.session_no);
  const message = `${taskId} already has the live session ${session_id}, started by ${live.started_by} at ${live.started_at}; use it, or seal it with merkle_finalize`;
  return new ColibriError('ERR_SESSION_EXISTS', message, { taskId, session_id });
}
