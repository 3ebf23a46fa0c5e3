import { ColibriError } from '../../errors.ts';
import { sessionNumber, taskNumber } from '../../ids.ts';
import { parseCheckpoint } from '../../integrity/index.ts';
import { defineTool, type Tool } from '../../tool.ts';
import { requireNamedSession } from '../../verification/verify-targets.ts';
import { buildSessionTree, GrowingSessionTree } from '../trail/session-tree.ts';
import type { SessionRow } from '../trail/sessions.ts';
import { sealSession } from './repository.ts';
import { finalizeInput, finalizeOutput, rootInput, rootOutput } from './schema.ts';
import { treeDepth } from './tree-depth.ts';

/** `newest` returns the newest signed checkpoint. */
export function createProofTools(newest: Newest): Tool[] {
  return [finalizeTool(newest), rootTool(newest)];
}

type Newest = () => string | undefined;

function finalizeTool(newest: Newest): Tool {
  return defineTool({
    name: 'merkle_finalize',
    title: 'Seal a session',
    description: 'Seal a session when its work is done: freezes its Merkle root and refuses further records.',
    inputSchema: finalizeInput,
    outputSchema: finalizeOutput,
    access: 'write',
    errorPattern: 'B',
    codes: ['ERR_SESSION_NOT_FOUND', 'ERR_ALREADY_FINALIZED', 'ERR_NO_RECORDS'],
    prepare: async ({ session_id, task_id }, { read }) => {
      const growing = new GrowingSessionTree(
        sessionNumber(session_id),
        task_id === undefined ? null : taskNumber(task_id),
      );
      await read((db) => growing.grow(db));
      return growing;
    },
    handle: async ({ session_id, task_id }, { db, actor, at }, growing) => {
      const session = await requireNamedSession(db, session_id);
      if (session.finalized_idx !== null) throw alreadyFinalized(session_id, session);
      const sealedTaskNo = task_id === undefined ? null : taskNumber(task_id);
      await growing.grow(db);
      const tree = growing.current();
      if (tree.leafCount === 0) throw noRecords('ERR_NO_RECORDS', session_id, task_id);
      await sealSession(db, { session, sealedTaskNo, tree, at, actor });
      return {
        session_id,
        merkle_root: tree.root,
        tree_depth: treeDepth(tree.leafCount),
        leaf_count: tree.leafCount,
        finalized_at: at,
        frozen: true,
        // The seal itself is signed right after this call.
        ...describeCheckpoint(newest(), null),
      };
    },
  });
}

function rootTool(newest: Newest): Tool {
  return defineTool({
    name: 'merkle_root',
    title: 'Read a Merkle root',
    description: 'Read the sealed Merkle root of a session, or its root so far.',
    inputSchema: rootInput,
    outputSchema: rootOutput,
    access: 'read',
    idempotent: true,
    errorPattern: 'B',
    codes: ['ERR_SESSION_NOT_FOUND', 'ERR_NOT_FINALIZED'],
    handle: async ({ session_id }, { db }) => {
      const session = await requireNamedSession(db, session_id);
      if (session.root !== null) {
        const { root, finalized_at, finalized_idx } = session;
        const checkpoint = describeCheckpoint(newest(), finalized_idx);
        return { session_id, merkle_root: root, is_finalized: true, as_of: finalized_at, ...checkpoint };
      }
      const { root, leafCount, asOf } = await buildSessionTree(db, session.session_no, null);
      if (leafCount === 0) throw noRecords('ERR_NOT_FINALIZED', session_id);
      return {
        session_id,
        merkle_root: root,
        is_finalized: false,
        as_of: asOf,
        ...describeCheckpoint(newest(), null),
      };
    },
  });
}

/** Returns nothing for a server that has signed nothing. */
function describeCheckpoint(text: string | undefined, sealIndex: number | null) {
  if (text === undefined) return {};
  const { size, root } = parseCheckpoint(text);
  return { checkpoint: { size, root, covers_seal: sealIndex !== null && sealIndex < size } };
}

function alreadyFinalized(sessionId: string, { root, finalized_at }: SessionRow): ColibriError {
  const problem = `${sessionId} was sealed at ${finalized_at} with root ${root}`;
  const facts = { session_id: sessionId, merkle_root: root };
  const advice = 'call audit_session_start to open a new session';
  return new ColibriError('ERR_ALREADY_FINALIZED', problem, facts, { advice });
}

function noRecords(code: 'ERR_NO_RECORDS' | 'ERR_NOT_FINALIZED', sessionId: string, taskId?: string): ColibriError {
  const of = taskId === undefined ? '' : ` of ${taskId}`;
  const problem = `${sessionId} has no records${of} yet, so it has no root`;
  const advice = 'call thought_record to add one';
  return new ColibriError(code, problem, { session_id: sessionId }, { advice });
}
