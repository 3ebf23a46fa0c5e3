import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { withServer } from '../support/test-server.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const HASH = /^[0-9a-f]{64}$/;
const thought = { task_id: 'T-0001', type: 'decision', content: 'Because.' };

describe('audit_session_start', () => {
  promiseTest('trail/tools', 'the response names the session, and the default scope is shallow', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      const started = await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      expect(started).toEqual({
        session_id: 'A-0001',
        task_id: 'T-0001',
        auditor_id: 'auditor',
        started_at: expect.stringMatching(TIME),
        scope: 'shallow',
      });
    }),
  );

  promiseTest('trail/tools', 'an unknown task is ERR_TASK_NOT_FOUND in pattern B', () =>
    withServer(async (server) => {
      const refusal = await server.refusal('audit_session_start', { task_id: 'T-0009', auditor_id: 'auditor' });
      expect(refusal).toMatchObject({ pattern: 'B', code: 'ERR_TASK_NOT_FOUND', facts: { taskId: 'T-0009' } });
    }),
  );

  promiseTest('trail/tools', 'fields of maximum length are stored completely', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      const [auditor_id, reason] = ['a'.repeat(128), 'r'.repeat(1000)];
      await server.startSession({ task_id: 'T-0001', auditor_id, reason, scope: 'deep' });
      expect(await server.query('SELECT auditor_id, reason, scope FROM sessions')).toEqual([
        { auditor_id, reason, scope: 'deep' },
      ]);
    }),
  );
});

describe('thought_record', () => {
  promiseTest('trail/tools', 'the response has every field, and the second thought links to the first', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      const first = await server.recordThought(thought);
      expect(first).toEqual({
        thought_id: '\u0398-0001',
        task_id: 'T-0001',
        type: 'decision',
        hash: expect.stringMatching(HASH),
        previous_hash: null,
        recorded_at: expect.stringMatching(TIME),
        recorded_by: 'tester',
        chain_position: 1,
        session_id: 'A-0001',
      });
      const second = await server.recordThought(thought);
      expect(second).toMatchObject({ thought_id: '\u0398-0002', previous_hash: first.hash, chain_position: 2 });
    }),
  );

  for (const type of ['reflection', 'decision', 'discovery', 'risk', 'blockers'])
    promiseTest('trail/tools', `the type ${type}, with all fields at their limits`, () =>
      withServer(async (server) => {
        await server.createTask({ title: 'a task' });
        await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
        const record = await server.recordThought({
          ...thought,
          type,
          content: '\u{1F426}'.repeat(2500),
          session_id: 'A-0001',
          branch: 'b'.repeat(256),
          commit_sha: 'A'.repeat(64),
          tests_run: Array.from({ length: 200 }, () => 't'.repeat(512)),
          blockers: Array.from({ length: 50 }, () => 'b'.repeat(1000)),
          metadata: { a: 'x'.repeat(16_376) },
        });
        expect(record.type).toBe(type);
      }),
    );

  promiseTest('trail/tools', 'refusals of thought_record are HANDLER_ERROR with the code first, in pattern A', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.createTask({ title: 'another' });
      const refused = async (input: object) => server.refusal('thought_record', { ...thought, ...input });
      const expected: [object, string][] = [
        [{ task_id: 'T-0099' }, 'ERR_TASK_NOT_FOUND'],
        [{}, 'ERR_SESSION_REQUIRED'],
        [{ session_id: 'A-0099' }, 'ERR_SESSION_NOT_FOUND'],
      ];
      for (const [input, code] of expected) {
        const { pattern, code: outer, message, facts } = await refused(input);
        expect({ pattern, outer, code: facts['code'] }).toEqual({ pattern: 'A', outer: 'HANDLER_ERROR', code });
        expect(message.startsWith(`${code}: `)).toBe(true);
      }
    }),
  );
});

describe('thought_record_list', () => {
  promiseTest('trail/tools', 'thought_record_list filters, pages and counts, oldest first', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.createTask({ title: 'its child', parent_id: 'T-0001' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', scope: 'deep' });
      await server.startSession({ task_id: 'T-0002', auditor_id: 'auditor' });
      for (let number = 1; number <= 6; number += 1) {
        const type = number % 2 === 0 ? 'risk' : 'decision';
        const [task_id, session_id] = number > 4 ? ['T-0002', 'A-0001'] : ['T-0001', 'A-0001'];
        await server.recordThought({ task_id, session_id, type, content: `number ${number}` });
      }
      await server.recordThought({ task_id: 'T-0002', type: 'risk', content: 'number 7' });
      const contents = async (input: object) => {
        const { thoughts, thought_count } = await server.listThoughts({ ...input });
        return [thought_count, thoughts.map(({ content }) => Number(content.slice(7)))];
      };
      expect(await contents({})).toEqual([7, [1, 2, 3, 4, 5, 6, 7]]);
      expect(await contents({ task_id: 'T-0002' })).toEqual([3, [5, 6, 7]]);
      expect(await contents({ session_id: 'A-0001' })).toEqual([6, [1, 2, 3, 4, 5, 6]]);
      expect(await contents({ type: 'risk' })).toEqual([4, [2, 4, 6, 7]]);
      expect(await contents({ task_id: 'T-0002', session_id: 'A-0001', type: 'risk' })).toEqual([1, [6]]);
      expect(await contents({ limit: 2 })).toEqual([7, [1, 2]]);
      expect(await contents({ limit: 2, offset: 5 })).toEqual([7, [6, 7]]);
      expect(await contents({ offset: 100 })).toEqual([7, []]);
      const { task_id, thoughts, chain_valid } = await server.listThoughts({ task_id: 'T-0002' });
      expect([task_id, thoughts[0]?.chain_position, chain_valid]).toEqual(['T-0002', 1, undefined]);
      for (const scope of [{}, { task_id: 'T-0002' }, { session_id: 'A-0001' }])
        expect(await server.listThoughts({ ...scope, verify_chain: true })).toMatchObject({
          chain_valid: true,
          invalid_links: [],
        });
    }),
  );

  promiseTest('trail/tools', 'the default page has 100 thoughts, and an unknown id is refused', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      for (let number = 0; number < 101; number += 1) await server.recordThought(thought);
      expect((await server.listThoughts({ task_id: 'T-0001' })).thoughts).toHaveLength(100);
      const task = await server.refusal('thought_record_list', { task_id: 'T-0099' });
      const session = await server.refusal('thought_record_list', { session_id: 'A-0099' });
      expect([task.facts['code'], session.facts['code']]).toEqual(['ERR_TASK_NOT_FOUND', 'ERR_SESSION_NOT_FOUND']);
    }),
  );
});

describe('audit_verify_chain', () => {
  promiseTest('trail/tools', 'audit_verify_chain accepts a task, a session or both', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      await server.recordThought(thought);
      await server.updateTask({ task_id: 'T-0001', status: 'todo' });
      const { hash } = await server.recordThought(thought);
      const whole = {
        chain_valid: true,
        integrity_score: 100,
        broken_links: [],
        verified_at: expect.stringMatching(TIME),
      };
      expect(await server.verifyChain({ task_id: 'T-0001' })).toEqual({
        ...whole,
        task_id: 'T-0001',
        total_records: 2,
      });
      expect(await server.verifyChain({ session_id: 'A-0001' })).toEqual({
        ...whole,
        session_id: 'A-0001',
        total_records: 3,
      });
      const both = await server.verifyChain({ task_id: 'T-0001', session_id: 'A-0001', full_trace: true });
      expect(both).toMatchObject({ ...whole, total_records: 5 });
      expect(both.trace).toHaveLength(5);
      expect(both.trace?.[1]).toEqual({ position: 2, record: '\u0398-0002', hash });
    }),
  );

  promiseTest('trail/tools', 'audit_verify_chain refuses an unknown id with ERR_NOT_FOUND', () =>
    withServer(async (server) => {
      for (const [input, facts] of [
        [{ task_id: 'T-0099' }, { taskId: 'T-0099' }],
        [{ session_id: 'A-0099' }, { session_id: 'A-0099' }],
      ] as const) {
        const refusal = await server.refusal('audit_verify_chain', input);
        expect(refusal).toMatchObject({
          pattern: 'A',
          code: 'HANDLER_ERROR',
          facts: { code: 'ERR_NOT_FOUND', ...facts },
        });
      }
    }),
  );
});
