import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import type { Refusal } from '../support/trail-caller.ts';
import { type TrailDesk, withDesk } from '../support/trail-server.ts';

describe('an agent without a manual', () => {
  promiseTest('trail/order', 'gets from the first refusal to a sealed session by doing what each message says', () =>
    withDesk(async (desk) => {
      await desk.createTask({ title: 'a task', status: 'todo' });
      await desk.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      await desk.updateTask({ task_id: 'T-0001', status: 'review' });
      const unfinished = await desk.refusal('task_update', { task_id: 'T-0001', status: 'done' });
      expect(unfinished.code).toBe('ERR_WRITEBACK_REQUIRED');
      expect(unfinished.message).toContain('thought_record');

      const record = { task_id: 'T-0001', type: 'decision', content: 'Because.' };
      const homeless = await desk.refusal('thought_record', record);
      expect(homeless.facts['code']).toBe('ERR_SESSION_REQUIRED');
      await follow(desk, homeless);
      const { session_id } = await desk.record(record);
      expect(await desk.verify({ session_id })).toMatchObject({ chain_valid: true, integrity_score: 100 });
      await desk.updateTask({ task_id: 'T-0001', status: 'done' });
      await desk.finalize({ session_id });
      expect((await desk.root({ session_id })).is_finalized).toBe(true);

      const late = await desk.refusal('thought_record', { ...record, session_id });
      expect(late.facts['code']).toBe('ERR_SESSION_FINALIZED');
      await follow(desk, late);
      expect((await desk.record(record)).session_id).toBe('A-0002');
    }),
  );

  promiseTest('trail/order', 'learns from a second session which is the first, and what to do with it', () =>
    withDesk(async (desk) => {
      await desk.createTask({ title: 'a task' });
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor' });
      const second = await desk.refusal('audit_session_start', { task_id: 'T-0001', auditor_id: 'other' });
      expect(second).toMatchObject({ pattern: 'B', code: 'ERR_SESSION_EXISTS', facts: { session_id: 'A-0001' } });
      expect(second.message).toMatch(/A-0001.*tester.*merkle_finalize/);
    }),
  );

  promiseTest('trail/order', 'learns from an empty session what is missing', () =>
    withDesk(async (desk) => {
      await desk.createTask({ title: 'a task' });
      await desk.start({ task_id: 'T-0001', auditor_id: 'auditor' });
      for (const [tool, code] of [
        ['merkle_finalize', 'ERR_NO_RECORDS'],
        ['merkle_root', 'ERR_NOT_FINALIZED'],
      ] as const) {
        const refusal = await desk.refusal(tool, { session_id: 'A-0001' });
        expect(refusal).toMatchObject({ pattern: 'B', code });
        expect(refusal.message).toContain('thought_record');
        const unknown = await desk.refusal(tool, { session_id: 'A-0099' });
        expect(unknown).toMatchObject({ pattern: 'B', code: 'ERR_SESSION_NOT_FOUND' });
        expect(unknown.message).toContain('audit_session_start');
      }
    }),
  );
});

/** Makes the call that the message spells out, with the one blank filled in. */
async function follow(desk: TrailDesk, { message }: Refusal): Promise<void> {
  const [, tool, input] = /(audit_session_start) (\{.*\})/.exec(message) ?? [];
  expect(tool).toBe('audit_session_start');
  await desk.start(JSON.parse((input ?? '').replace('<your name>', 'me')) as Record<string, unknown>);
}
