import { describe, expect } from 'vitest';
import { inclusionRanges, isIncluded } from '../../src/integrity/index.ts';
import { SESSION_RECORDS } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';
import { naiveLeaf, naivePath, naiveRoot } from '../vectors/naive.ts';

/** The leaves of a session, read off its entries by hand. */
async function leavesOf(server: TestServer, sessionNo: number, taskId?: string): Promise<string[]> {
  const rows = await server.query<{ entry: string }>(
    `SELECT entry FROM ${SESSION_RECORDS} JOIN ledger_entries USING (idx) WHERE session_no = ${sessionNo} ORDER BY session_seq`,
  );
  return rows
    .filter(({ entry }) => taskId === undefined || (JSON.parse(entry) as { task_id: string }).task_id === taskId)
    .map(({ entry }) => naiveLeaf(Buffer.from(entry)));
}

const thought = { task_id: 'T-0001', type: 'decision', content: 'Because.' };

describe('a sealed session', () => {
  const DEPTHS = { 1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 7: 4, 8: 4, 9: 5, 16: 5, 17: 6 };
  for (const [count, depth] of Object.entries(DEPTHS))
    promiseTest('proofs/tree', `${count} leaves make ${depth} levels and the naive root`, () =>
      withServer(async (server) => {
        await server.createTask({ title: 'a task' });
        await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
        for (let number = 0; number < Number(count); number += 1) {
          await server.recordThought(thought);
          const { merkle_root, is_finalized } = await server.merkleRoot({ session_id: 'A-0001' });
          expect([merkle_root, is_finalized]).toEqual([naiveRoot(await leavesOf(server, 1)), false]);
        }
        expect(await server.finalize({ session_id: 'A-0001' })).toEqual({
          session_id: 'A-0001',
          merkle_root: naiveRoot(await leavesOf(server, 1)),
          tree_depth: depth,
          leaf_count: Number(count),
          finalized_at: expect.any(String),
          frozen: true,
        });
      }),
    );

  promiseTest('proofs/tree', 'the tree has thoughts and task events in log order', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'parent' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await server.createTask({ title: 'child', parent_id: 'T-0001' });
      await server.recordThought({ ...thought, task_id: 'T-0002', session_id: 'A-0001' });
      await server.updateTask({ task_id: 'T-0002', status: 'todo' });
      await server.recordThought(thought);
      const before = await server.merkleRoot({ session_id: 'A-0001' });
      const sealed = await server.finalize({ session_id: 'A-0001' });
      expect(sealed).toMatchObject({ leaf_count: 4, merkle_root: naiveRoot(await leavesOf(server, 1)) });
      expect(before.merkle_root).toBe(sealed.merkle_root);
      expect(sealed.merkle_root).not.toBe(naiveRoot((await leavesOf(server, 1)).reverse()));
    }),
  );

  promiseTest('proofs/tree', 'with a task_id, the tree has only the records of that task', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'parent' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await server.createTask({ title: 'child', parent_id: 'T-0001' });
      await server.recordThought(thought);
      await server.recordThought({ ...thought, task_id: 'T-0002', session_id: 'A-0001' });
      const none = await server.refusal('merkle_finalize', { session_id: 'A-0001', task_id: 'T-0099' });
      expect(none.code).toBe('ERR_NO_RECORDS');
      const sealed = await server.finalize({ session_id: 'A-0001', task_id: 'T-0002' });
      expect(sealed).toMatchObject({ leaf_count: 2, merkle_root: naiveRoot(await leavesOf(server, 1, 'T-0002')) });
      expect(await server.verifyChain({ session_id: 'A-0001' })).toMatchObject({
        total_records: 3,
        integrity_score: 100,
      });
      expect((await server.merkleRoot({ session_id: 'A-0001' })).merkle_root).toBe(sealed.merkle_root);
    }),
  );

  promiseTest('proofs/seal', 'a seal is an entry with root, leaf count and chain heads', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'parent' });
      await server.createTask({ title: 'child', parent_id: 'T-0001' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await server.recordThought(thought);
      const parent = await server.recordThought(thought);
      const child = await server.recordThought({ ...thought, task_id: 'T-0002', session_id: 'A-0001' });
      const { merkle_root, finalized_at } = await server.finalize({ session_id: 'A-0001' });
      const [row] = await server.query<{ entry: string }>(
        `SELECT entry FROM ledger_entries WHERE entry LIKE '%"kind":"session.finalized"%'`,
      );
      expect(JSON.parse(row?.entry ?? '')).toEqual({
        v: 1,
        kind: 'session.finalized',
        at: finalized_at,
        actor: 'tester',
        session_id: 'A-0001',
        root: merkle_root,
        leaf_count: 3,
        heads: [
          { task_id: 'T-0001', chain_position: 2, hash: parent.hash },
          { task_id: 'T-0002', chain_position: 1, hash: child.hash },
        ],
      });
    }),
  );

  promiseTest('proofs/trace', 'every record has a proof to the root, and no other record has one', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      for (let number = 0; number < 11; number += 1) await server.recordThought(thought);
      const { merkle_root: root, leaf_count: size } = await server.finalize({ session_id: 'A-0001' });
      const leaves = await leavesOf(server, 1);
      for (const [index, leaf] of leaves.entries()) {
        const proof = inclusionRanges(index, size).map(({ begin, end }) => naiveRoot(leaves.slice(begin, end)));
        expect(proof).toEqual(naivePath(index, leaves));
        expect(isIncluded({ leaf, index, size, proof, root })).toBe(true);
        const other = leaves[(index + 1) % size] ?? '';
        expect(isIncluded({ leaf: other, index, size, proof, root })).toBe(false);
        expect(isIncluded({ leaf, index: (index + 1) % size, size, proof, root })).toBe(false);
      }
      const places = await server.query<{ session_seq: number; session_no: number }>(
        'SELECT session_no, session_seq FROM thoughts ORDER BY thought_no',
      );
      expect(places).toEqual(leaves.map((_, index) => ({ session_no: 1, session_seq: index + 1 })));
    }),
  );

  promiseTest('proofs/tree', 'two sessions with the same content have different roots', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      const roots: string[] = [];
      for (const session_id of ['A-0001', 'A-0002']) {
        await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
        await server.recordThought(thought);
        roots.push((await server.finalize({ session_id })).merkle_root);
      }
      expect(new Set(roots).size).toBe(2);
    }),
  );
});
