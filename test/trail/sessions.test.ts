import { describe, expect } from 'vitest';
import { parseEntry } from '../../src/integrity/index.ts';
import { SESSION_RECORDS } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

/** T-0001 is the parent of T-0002, which is the parent of T-0003; T-0004 stands alone. */
async function makeFamily(server: TestServer): Promise<void> {
  await server.createTask({ title: 'parent' });
  await server.createTask({ title: 'child', parent_id: 'T-0001' });
  await server.createTask({ title: 'grandchild', parent_id: 'T-0002' });
  await server.createTask({ title: 'stranger' });
}

const thought = (task_id: string, session_id?: string) => ({
  task_id,
  type: 'decision',
  content: 'Because.',
  ...(session_id === undefined ? {} : { session_id }),
});

async function recordsOf(server: TestServer, sessionNo: number): Promise<{ kind: unknown }[]> {
  const rows = await server.query<{ entry: string }>(
    `SELECT entry FROM ${SESSION_RECORDS} JOIN ledger_entries USING (idx) WHERE session_no = ${sessionNo} ORDER BY session_seq`,
  );
  return rows.map(({ entry }) => ({ kind: parseEntry(entry)?.kind }));
}

describe('the scope of a session', () => {
  promiseTest('trail/scope', 'deep covers thoughts and changes of children, grandchildren and later children', () =>
    withServer(async (server) => {
      await makeFamily(server);
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      for (const task of ['T-0001', 'T-0002', 'T-0003']) await server.recordThought(thought(task, 'A-0001'));
      await server.updateTask({ task_id: 'T-0003', status: 'todo' });
      await server.createTask({ title: 'later', parent_id: 'T-0003' });
      await server.recordThought(thought('T-0005', 'A-0001'));
      await server.updateTask({ task_id: 'T-0004', status: 'todo' });
      expect((await recordsOf(server, 1)).map(({ kind }) => kind)).toEqual([
        'thought',
        'thought',
        'thought',
        'task.updated',
        'task.created',
        'thought',
      ]);
    }),
  );

  promiseTest('trail/scope', 'shallow refuses thoughts of a child and omits its changes', () =>
    withServer(async (server) => {
      await makeFamily(server);
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      await server.updateTask({ task_id: 'T-0002', status: 'todo' });
      await server.updateTask({ task_id: 'T-0001', status: 'todo' });
      const { facts, message } = await server.refusal('thought_record', thought('T-0002', 'A-0001'));
      expect(facts['code']).toBe('ERR_SESSION_REQUIRED');
      expect(message).toMatch(/A-0001 covers T-0001 \(shallow\), not T-0002.*audit_session_start/);
      expect(await recordsOf(server, 1)).toEqual([{ kind: 'task.updated' }]);
    }),
  );

  promiseTest('trail/scope', 'deep covers neither the parent nor unrelated tasks', () =>
    withServer(async (server) => {
      await makeFamily(server);
      await server.startSession({ task_id: 'T-0002', auditor_id: 'auditor', scope: 'deep' });
      for (const task of ['T-0001', 'T-0004']) {
        const { facts } = await server.refusal('thought_record', thought(task, 'A-0001'));
        expect(facts['code']).toBe('ERR_SESSION_REQUIRED');
      }
    }),
  );

  promiseTest('trail/scope', 'a task that is moved under another is covered from then on', () =>
    withServer(async (server) => {
      await makeFamily(server);
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await server.refusal('thought_record', thought('T-0004', 'A-0001'));
      await server.updateTask({ task_id: 'T-0004', parent_id: 'T-0003' });
      await server.recordThought(thought('T-0004', 'A-0001'));
      expect(await server.verifyChain({ task_id: 'T-0004' })).toMatchObject({ total_records: 1, integrity_score: 100 });
    }),
  );

  promiseTest('trail/scope', 'one change is a record of every session that covers it', () =>
    withServer(async (server) => {
      await makeFamily(server);
      for (const task_id of ['T-0001', 'T-0002', 'T-0003'])
        await server.startSession({ task_id, auditor_id: 'auditor', scope: 'deep' });
      await server.updateTask({ task_id: 'T-0003', status: 'todo' });
      for (const session of [1, 2, 3]) expect(await recordsOf(server, session)).toEqual([{ kind: 'task.updated' }]);
    }),
  );

  promiseTest(
    'trail/scope',
    "without a session_id a thought goes to its task's own session, not to a deep one above",
    () =>
      withServer(async (server) => {
        await makeFamily(server);
        await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
        const { facts } = await server.refusal('thought_record', thought('T-0002'));
        expect(facts['code']).toBe('ERR_SESSION_REQUIRED');
        await server.startSession({ task_id: 'T-0002', auditor_id: 'auditor' });
        expect((await server.recordThought(thought('T-0002'))).session_id).toBe('A-0002');
      }),
  );
});

describe('the life of a session', () => {
  promiseTest('trail/one-live', 'a second session of a task is refused until the first is sealed', () =>
    withServer(async (server) => {
      await makeFamily(server);
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await server.startSession({ task_id: 'T-0002', auditor_id: 'auditor' });
      const again = await server.refusal('audit_session_start', {
        task_id: 'T-0001',
        auditor_id: 'b',
        scope: 'shallow',
      });
      expect(again.code).toBe('ERR_SESSION_EXISTS');
      await server.recordThought(thought('T-0001'));
      await server.finalize({ session_id: 'A-0001' });
      expect((await server.startSession({ task_id: 'T-0001', auditor_id: 'b' })).session_id).toBe('A-0003');
    }),
  );

  promiseTest('proofs/seal', 'a sealed session refuses thoughts and seals, and omits later changes', () =>
    withServer(async (server) => {
      await makeFamily(server);
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await server.recordThought(thought('T-0001'));
      const sealed = await server.finalize({ session_id: 'A-0001' });
      const late = await server.refusal('thought_record', thought('T-0002', 'A-0001'));
      expect(late.facts['code']).toBe('ERR_SESSION_FINALIZED');
      await server.updateTask({ task_id: 'T-0001', status: 'todo' });
      await server.createTask({ title: 'late child', parent_id: 'T-0001' });
      const again = await server.refusal('merkle_finalize', { session_id: 'A-0001' });
      expect(again).toMatchObject({ code: 'ERR_ALREADY_FINALIZED', facts: { merkle_root: sealed.merkle_root } });
      expect(await recordsOf(server, 1)).toHaveLength(1);
      const { merkle_root, is_finalized, as_of } = await server.merkleRoot({ session_id: 'A-0001' });
      expect([merkle_root, is_finalized, as_of]).toEqual([sealed.merkle_root, true, sealed.finalized_at]);
    }),
  );
});
