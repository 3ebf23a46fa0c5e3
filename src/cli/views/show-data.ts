import type { Task } from '../../domains/tasks/record.ts';
import type { ThoughtRow } from '../../domains/trail/repository.ts';
import type { SessionRow } from '../../domains/trail/sessions.ts';
import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import { parseJson } from '../../integrity/index.ts';
import type { TaskEvent, TaskHistory } from '../../verification/task-history.ts';

/** The JSON output of `show`; field names are those of the tools. */
export interface Shown {
  readonly task: Task;
  readonly waits_for: readonly string[];
  readonly children: readonly string[];
  readonly thoughts: readonly ShownThought[];
  readonly sessions: readonly ShownSession[];
  readonly events: readonly TaskEvent[];
  readonly verdict: 'whole' | 'tampered';
  readonly problems: TaskHistory['problems'];
}

export type ShownThought = ReturnType<typeof describeThought>;
export type ShownSession = ReturnType<typeof describeSession>;

export function describeThought(row: ThoughtRow) {
  return {
    thought_id: formatThoughtId(row.thought_no),
    type: row.type,
    content: row.content,
    recorded_at: row.recorded_at,
    recorded_by: row.recorded_by,
    session_id: formatSessionId(row.session_no),
    chain_position: row.chain_position,
    attempt: row.attempt,
    hash: row.hash,
    extras: parseExtras(row.extras),
  };
}

export function describeSession(row: SessionRow) {
  return {
    session_id: formatSessionId(row.session_no),
    task_id: formatTaskId(row.task_no),
    scope: row.scope,
    auditor_id: row.auditor_id,
    reason: row.reason,
    started_at: row.started_at,
    record_count: row.record_count,
    finalized_at: row.finalized_at,
    root: row.root,
    leaf_count: row.leaf_count,
  };
}

/** A tampered row must not prevent the rest from being shown. */
function parseExtras(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null ? { ...value } : { unreadable: text };
  } catch {
    return { unreadable: text };
  }
}
