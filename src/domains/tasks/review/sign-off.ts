import type { Reader } from '../../../db/database.ts';
import { parseId } from '../../../ids.ts';
import { parseEntry } from '../../../integrity/index.ts';
import { findApproval } from '../../trail/approval.ts';
import { type Task, taskFields } from '../record.ts';
import { listVersions } from '../versions.ts';
import { workflowOf } from '../workflows.ts';
import type { ProjectOptions } from './options.ts';
import { type Approval, assertApproved, listRewritten, type Review } from './rules.ts';

/** Throws if the project requires a sign-off that the task does not have. Most projects require none. */
export async function assertSignedOff(
  db: Reader,
  { before, after, actor }: { readonly before: Task; readonly after: Task; readonly actor: string },
  { review: policy = 'none' }: ProjectOptions,
): Promise<void> {
  if (policy === 'none') return;
  const review = await readReview(db, before);
  // A rewrite in the call that finishes the task is a rewrite, too.
  const rewritten = listRewritten(before, after);
  const now = { index: Number.MAX_SAFE_INTEGER, at: after.updated_at, by: actor, fields: rewritten };
  assertApproved(before, actor, policy, rewritten.length === 0 ? review : { ...review, rewrite: now });
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
    } else if (before !== undefined) {
      const fields = listRewritten(before, version);
      if (fields.length > 0) entered = { ...entered, rewrite: { index: idx, at: entry.at, by: entry.actor, fields } };
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
  const rows = await db.query<{ idx: number; recorded_by: string; extras: string }>(
    'SELECT idx, recorded_by, extras FROM thoughts WHERE task_no = $1 AND idx > $2 AND idx < $3 ORDER BY chain_position',
    [taskNo, after, before],
  );
  return rows.flatMap(({ idx, recorded_by: by, extras }) => {
    const approval = findApproval(extras);
    // An approval cannot be about a version that was yet to come.
    return approval === undefined ? [] : [{ by, version: Math.min(approval.version, idx) }];
  });
}
