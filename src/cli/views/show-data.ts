import type { ClaimView } from '../../domains/tasks/claims/claim-view.ts';
import type { Task } from '../../domains/tasks/record.ts';
import type { ThoughtRow } from '../../domains/trail/repository.ts';
import type { SessionRow } from '../../domains/trail/sessions.ts';
import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import type { Evidence } from '../../integrity/evidence/compare.ts';
import { parseJson } from '../../integrity/index.ts';
import type { TaskCommit } from '../../recorder/git/recorded-commits.ts';
import type { CoverageReport } from '../../recorder/reports/list-reports.ts';
import type { TaskEvent, TaskHistory } from '../../verification/task-history.ts';

/** The JSON output of `show`; field names are those of the tools. */
export interface Shown {
  readonly task: Task;
  /** Null if no agent or person holds the task. */
  readonly claim: ShownClaim | null;
  readonly waits_for: readonly string[];
  /** Open tasks that wait for this one. */
  readonly awaited_by: readonly string[];
  readonly children: readonly string[];
  readonly thoughts: readonly ShownThought[];
  /** What the thoughts name, and then what git reported besides, each oldest first. */
  readonly commits: readonly ShownCommit[];
  /** What the thoughts say about tests and commits, compared with what was observed. */
  readonly evidence: readonly Evidence[];
  /** Set if only the newest items were compared. */
  readonly evidence_total?: number;
  /** Set if only the newest observations of the task were compared. */
  readonly observations_total?: number;
  readonly sessions: readonly ShownSession[];
  readonly events: readonly TaskEvent[];
  /** How many calls of the sessions of clients that worked on the task are in the log. */
  readonly coverage: readonly CoverageReport[];
  /** Decisions and changes whose texts people have removed. */
  readonly redacted: number;
  readonly verdict: 'whole' | 'tampered';
  readonly problems: TaskHistory['problems'];
}

export interface ShownClaim extends ClaimView {
  /** The fencing token: the log index of the event by which the holder took the task. */
  readonly claim: number | null;
  readonly taken_from: string | null;
}

export interface ShownCommit {
  readonly commit_sha: string;
  readonly branch?: string;
  /** The thought that names it first; undefined if none does. */
  readonly thought_id?: string;
  /** The entry that records it, if git has reported it for this task. */
  readonly entry?: number;
  readonly recorded_by: string;
  readonly recorded_at: string;
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
    started_by: row.started_by,
    reason: row.reason,
    started_at: row.started_at,
    record_count: row.record_count,
    finalized_at: row.finalized_at,
    root: row.root,
    leaf_count: row.leaf_count,
  };
}

/** The commits that thoughts name, each where it was named first, and those that git reported for the task. */
export function listCommits(thoughts: readonly ShownThought[], reported: readonly TaskCommit[]): ShownCommit[] {
  const named = new Map<string, ShownCommit>();
  for (const { extras, thought_id, recorded_by, recorded_at } of thoughts) {
    const { commit_sha, branch } = extras;
    if (typeof commit_sha !== 'string' || named.has(commit_sha.toLowerCase())) continue;
    const on = typeof branch === 'string' ? { branch } : {};
    const found = reported.find(({ sha }) => sha.startsWith(commit_sha.toLowerCase()));
    const entry = found === undefined ? {} : { entry: found.entry };
    named.set(commit_sha.toLowerCase(), { commit_sha, ...on, thought_id, ...entry, recorded_by, recorded_at });
  }
  const others = reported.filter(({ sha }) => ![...named.keys()].some((name) => sha.startsWith(name)));
  return [...named.values(), ...others.map(describeReported)];
}

function describeReported({ entry, sha, branch, at, actor }: TaskCommit): ShownCommit {
  const on = branch === undefined ? {} : { branch };
  return { commit_sha: sha, ...on, entry, recorded_by: actor, recorded_at: at };
}

/** Lists of strings are joined, other values shown as JSON. */
export function extraText(value: unknown): string {
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isList ? value.join('; ') : JSON.stringify(value);
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
