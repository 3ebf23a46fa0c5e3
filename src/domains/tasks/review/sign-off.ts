import type { Reader } from '../../../db/database.ts';
import { parseId } from '../../../ids.ts';
import { parseEntry, parseJson } from '../../../integrity/index.ts';
import { type Task, taskFields } from '../record.ts';
import { listVersions } from '../versions.ts';
import { workflowOf } from '../workflows.ts';
import type { ProjectOptions } from './options.ts';
import { type Approval, assertApproved, type Review } from './rules.ts';

/** Throws if the project requires a sign-off that the task does not have. Most projects require none. */
export async function assertSignedOff(
  db: Reader,
  task: Task,
  actor: string,
  { review: policy = 'none' }: ProjectOptions,
): Promise<void> {
  if (policy !== 'none') assertApproved(task, actor, policy, await readReview(db, task));
}

/** The part of the metadata of a thought record that makes it an approval. */
export interface ApprovalMetadata {
  readonly approval: {
    /** The entry of the approved version of the task. */
    readonly version: number;
    /** The fencing token of the latest claim, under which the work was done. */
    readonly claim?: number;
    readonly commit?: string;
  };
}

async function readReview(db: Reader, task: Task): Promise<Review> {
  const taskNo = parseId(task.task_id);
  const { review } = workflowOf(task.workflow);
  let entered: Omit<Review, 'approvals'> = { index: 0, at: task.updated_at, broughtBy: [task.updated_by] };
  let before: Task | undefined;
  for (const { idx, content, entry: text } of await listVersions(db, taskNo)) {
    const entry = parseEntry(text ?? '');
    if (content === null || entry === undefined) continue;
    const version = taskFields.fromContent(content);
    if (version.status === review && before?.status !== review) {
      const broughtBy = [...new Set([entry.actor, before?.holder ?? entry.actor])];
      entered = { index: idx, at: entry.at, broughtBy };
    }
    before = version;
  }
  return { ...entered, approvals: await listApprovals(db, taskNo, { after: entered.index }) };
}

/** The approvals that were recorded between two entries. */
export async function listApprovals(
  db: Reader,
  taskNo: number,
  { after, before = Number.MAX_SAFE_INTEGER }: { readonly after: number; readonly before?: number },
): Promise<Approval[]> {
  const rows = await db.query<{ recorded_by: string; extras: string }>(
    'SELECT recorded_by, extras FROM thoughts WHERE task_no = $1 AND idx > $2 AND idx < $3 ORDER BY chain_position',
    [taskNo, after, before],
  );
  return rows.flatMap(({ recorded_by: by, extras }) => {
    const version = approvedVersion(extras);
    return version === undefined ? [] : [{ by, version }];
  });
}

/** Metadata can hold anything, and a forged row is not even JSON. */
function approvedVersion(extras: string): number | undefined {
  try {
    const { metadata } = parseJson(extras) as {
      readonly metadata?: { readonly approval?: { readonly version?: unknown } };
    };
    const version = metadata?.approval?.version;
    return typeof version === 'number' ? version : undefined;
  } catch {
    return undefined;
  }
}
