import { describe, expect } from 'vitest';
import type { Failure } from '../support/agent.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

describe('an agent without a manual', () => {
  promiseTest('trail/order', 'gets from the first refusal to a sealed session by doing what each message says', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task', status: 'todo' });
      await server.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      await server.updateTask({ task_id: 'T-0001', status: 'review' });
      const unfinished = await server.refusal('task_update', { task_id: 'T-0001', status: 'done' });
      expect(unfinished.code).toBe('ERR_WRITEBACK_REQUIRED');
      expect(unfinished.message).toContain('thought_record');

      const record = { task_id: 'T-0001', type: 'decision', content: 'Because.' };
      const homeless = await server.refusal('thought_record', record);
      expect(homeless.facts['code']).toBe('ERR_SESSION_REQUIRED');
      await follow(server, homeless);
      const { session_id } = await server.recordThought(record);
      expect(await server.verifyChain({ session_id })).toMatchObject({ chain_valid: true, integrity_score: 100 });
      await server.updateTask({ task_id: 'T-0001', status: 'done' });
      await server.finalize({ session_id });
      expect((await server.merkleRoot({ session_id })).is_finalized).toBe(true);

      const late = await server.refusal('thought_record', { ...record, session_id });
      expect(late.facts['code']).toBe('ERR_SESSION_FINALIZED');
      await follow(server, late);
      expect((await server.recordThought(record)).session_id).toBe('A-0002');
    }),
  );

  promiseTest('trail/order', 'learns from a second session which is the first, and what to do with it', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      const second = await server.refusal('audit_session_start', { task_id: 'T-0001', auditor_id: 'other' });
      expect(second).toMatchObject({ pattern: 'B', code: 'ERR_SESSION_EXISTS', facts: { session_id: 'A-0001' } });
      expect(second.message).toMatch(/A-0001.*tester.*merkle_finalize/);
    }),
  );

  promiseTest('trail/order', 'learns from an empty session what is missing', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      for (const [tool, code] of [
        ['merkle_finalize', 'ERR_NO_RECORDS'],
        ['merkle_root', 'ERR_NOT_FINALIZED'],
      ] as const) {
        const refusal = await server.refusal(tool, { session_id: 'A-0001' });
        expect(refusal).toMatchObject({ pattern: 'B', code });
        expect(refusal.message).toContain('thought_record');
        const unknown = await server.refusal(tool, { session_id: 'A-0099' });
        expect(unknown).toMatchObject({ pattern: 'B', code: 'ERR_SESSION_NOT_FOUND' });
        expect(unknown.message).toContain('audit_session_start');
      }
    }),
  );
});

/** Makes the call that the message spells out, with the one blank filled in. */
async function follow(server: TestServer, { message }: Failure): Promise<void> {
  const [, tool, input] = /(audit_session_start) (\{.*\})/.exec(message) ?? [];
  expect(tool).toBe('audit_session_start');
  await server.startSession(JSON.parse((input ?? '').replace('<your name>', 'me')) as Record<string, unknown>);
}
