import { describe, expect } from 'vitest';
import { SESSION_RECORDS } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TrailDesk, withDesk } from '../support/trail-server.ts';

/** T-0001 is the parent of T-0002, which is the parent of T-0003; T-0004 stands alone. */
async function makeFamily(desk: TrailDesk): Promise<void> {
  await desk.createTask({ title: 'parent' });
  await desk.createTask({ title: 'child', parent_id: 'T-0001' });
  await desk.createTask({ title: 'grandchild', parent_id: 'T-0002' });
  await desk.createTask({ title: 'stranger' });
}

const thought = (task_id: string, session_id?: string) => ({
  task_id,
  type: 'decision',
  content: 'Because.',
  ...(session_id === undefined ? {} : { session_id }),
});

const recordsOf = (desk: TrailDesk, sessionNo: number) =>
  desk.query<{ kind: string }>(
    `SELECT kind FROM ${SESSION_RECORDS} JOIN ledger_entries USING (idx) WHERE session_no = ${sessionNo} ORDER BY session_seq`,
  );

describe('the reach of a session', () => {
  promiseTest('trail/scope', 'deep takes thoughts and changes of children, grandchildren and later children', () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      for (const task of ['T-0001', 'T-0002', 'T-0003']) await desk.record(thought(task, 'A-0001'));
      await desk.updateTask({ task_id: 'T-0003', status: 'todo' });
      await desk.createTask({ title: 'later', parent_id: 'T-0003' });
      await desk.record(thought('T-0005', 'A-0001'));
      await desk.updateTask({ task_id: 'T-0004', status: 'todo' });
      expect((await recordsOf(desk, 1)).map(({ kind }) => kind)).toEqual([
        'thought',
        'thought',
        'thought',
        'task.updated',
        'task.created',
        'thought',
      ]);
    }),
  );

  promiseTest('trail/scope', 'shallow refuses a child and leaves out its changes', () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor' });
      await desk.updateTask({ task_id: 'T-0002', status: 'todo' });
      await desk.updateTask({ task_id: 'T-0001', status: 'todo' });
      const { facts, message } = await desk.refusal('thought_record', thought('T-0002', 'A-0001'));
      expect(facts['code']).toBe('ERR_SESSION_REQUIRED');
      expect(message).toMatch(/A-0001 covers T-0001 \(shallow\), not T-0002.*audit_session_start/);
      expect(await recordsOf(desk, 1)).toEqual([{ kind: 'task.updated' }]);
    }),
  );

  promiseTest('trail/scope', 'deep reaches down only: not to a parent, not to a stranger', () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      await desk.start({ task_id: 'T-0002', auditor_id: 'auditor', scope: 'deep' });
      for (const task of ['T-0001', 'T-0004']) {
        const { facts } = await desk.refusal('thought_record', thought(task, 'A-0001'));
        expect(facts['code']).toBe('ERR_SESSION_REQUIRED');
      }
    }),
  );

  promiseTest('trail/scope', 'a task that is moved under another is covered from then on', () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await desk.refusal('thought_record', thought('T-0004', 'A-0001'));
      await desk.updateTask({ task_id: 'T-0004', parent_id: 'T-0003' });
      await desk.record(thought('T-0004', 'A-0001'));
      expect(await desk.verify({ task_id: 'T-0004' })).toMatchObject({ total_records: 1, integrity_score: 100 });
    }),
  );

  promiseTest('trail/scope', 'one change is a record of every session that covers it', () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      for (const task_id of ['T-0001', 'T-0002', 'T-0003'])
        await desk.start({ task_id, auditor_id: 'auditor', scope: 'deep' });
      await desk.updateTask({ task_id: 'T-0003', status: 'todo' });
      for (const session of [1, 2, 3]) expect(await recordsOf(desk, session)).toEqual([{ kind: 'task.updated' }]);
    }),
  );

  promiseTest('trail/scope', "without a name a thought goes to its task's own session, not to a deep one above", () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      const { facts } = await desk.refusal('thought_record', thought('T-0002'));
      expect(facts['code']).toBe('ERR_SESSION_REQUIRED');
      await desk.start({ task_id: 'T-0002', auditor_id: 'auditor' });
      expect((await desk.record(thought('T-0002'))).session_id).toBe('A-0002');
    }),
  );
});

describe('the life of a session', () => {
  promiseTest('trail/one-live', 'a second is refused until the first is sealed, and other tasks do not matter', () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await desk.start({ task_id: 'T-0002', auditor_id: 'auditor' });
      const again = await desk.refusal('audit_session_start', { task_id: 'T-0001', auditor_id: 'b', scope: 'shallow' });
      expect(again.code).toBe('ERR_SESSION_EXISTS');
      await desk.record(thought('T-0001'));
      await desk.finalize({ session_id: 'A-0001' });
      expect((await desk.start({ task_id: 'T-0001', auditor_id: 'b' })).session_id).toBe('A-0003');
    }),
  );

  promiseTest('proofs/seal', 'nothing joins after the seal: no thought, no change, no second seal', () =>
    withDesk(async (desk) => {
      await makeFamily(desk);
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await desk.record(thought('T-0001'));
      const sealed = await desk.finalize({ session_id: 'A-0001' });
      const late = await desk.refusal('thought_record', thought('T-0002', 'A-0001'));
      expect(late.facts['code']).toBe('ERR_SESSION_FINALIZED');
      await desk.updateTask({ task_id: 'T-0001', status: 'todo' });
      await desk.createTask({ title: 'late child', parent_id: 'T-0001' });
      const again = await desk.refusal('merkle_finalize', { session_id: 'A-0001' });
      expect(again).toMatchObject({ code: 'ERR_ALREADY_FINALIZED', facts: { merkle_root: sealed.merkle_root } });
      expect(await recordsOf(desk, 1)).toHaveLength(1);
      const { merkle_root, is_finalized, as_of } = await desk.root({ session_id: 'A-0001' });
      expect([merkle_root, is_finalized, as_of]).toEqual([sealed.merkle_root, true, sealed.finalized_at]);
    }),
  );
});
