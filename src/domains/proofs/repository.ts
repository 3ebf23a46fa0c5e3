import type { Transaction } from '../../db/database.ts';
import { formatSessionId, formatTaskId } from '../../ids.ts';
import { append } from '../../ledger/append.ts';
import type { SessionTree } from '../trail/session-tree.ts';
import { listHeads, type SessionRow } from '../trail/sessions.ts';

export interface Seal {
  readonly session: SessionRow;
  readonly sealedTaskNo: number | null;
  readonly tree: SessionTree;
  readonly at: string;
  readonly actor: string;
}

/** The seal is itself an entry of the log, so the root cannot be replaced later. */
export async function sealSession(db: Transaction, { session, sealedTaskNo, tree, at, actor }: Seal): Promise<void> {
  const index = await append(db, {
    v: 1,
    kind: 'session.finalized',
    at,
    actor,
    session_id: formatSessionId(session.session_no),
    root: tree.root,
    leaf_count: tree.leafCount,
    heads: await listHeads(db, session.session_no),
    ...(sealedTaskNo === null ? {} : { task_id: formatTaskId(sealedTaskNo) }),
  });
  await db.query(
    `UPDATE sessions SET finalized_idx = $1, finalized_at = $2, sealed_task_no = $3, root = $4, leaf_count = $5
     WHERE session_no = $6`,
    [index, at, sealedTaskNo, tree.root, tree.leafCount, session.session_no],
  );
}
