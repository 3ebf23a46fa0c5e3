import { describe, expect } from 'vitest';
import { newTask } from '../../src/domains/tasks/change.ts';
import { insertTask } from '../../src/domains/tasks/repository.ts';
import { formatTaskId } from '../../src/ids.ts';
import { nextNumbers } from '../../src/ledger/counters.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';
import { unknownIds } from '../trail/fixtures/bad-input.ts';
import { UNKNOWN_IDS } from './fixtures/bad-input.ts';

describe('progress', () => {
  promiseTest('tasks/fractions', 'task_update stores any number from 0 to 100', () =>
    withServer(async (server) => {
      const { task_id } = await server.createTask({ title: 'x' });
      for (const progress of [33.3, 0.001, 99.99, 100, 0]) {
        expect(await server.updateTask({ task_id, progress })).toMatchObject({ progress });
        expect(await server.getTask({ task_id })).toMatchObject({ progress });
      }
      for (const progress of [-0.001, 100.001, '50'])
        expect((await server.refusal('task_update', { task_id, progress })).code).toBe('INVALID_PARAMS');
    }),
  );
});

describe('null in an optional field', () => {
  promiseTest('tasks/null-clears', 'task_update resets each of them', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'parent' });
      const fields = { description: 'words to find', assignee: 'bob', estimate_hours: 2.5, parent_id: 'T-0001' };
      const { task_id } = await server.createTask({ title: 'child', status: 'todo', ...fields });
      expect(await server.getTask({ task_id })).toMatchObject(fields);
      const cleared = { description: null, assignee: null, estimate_hours: null, parent_id: null };
      expect(await server.updateTask({ task_id, ...cleared })).toMatchObject({ assignee: 'unassigned' });
      const task = await server.getTask({ task_id });
      expect(task).toMatchObject({ description: '', assignee: 'unassigned' });
      expect(task).not.toHaveProperty('estimate_hours');
      expect(task).not.toHaveProperty('parent_id');
      expect((await server.listTasks({ search: 'words' })).total_count).toBe(0);
      expect((await server.listTasks({ assignee: 'bob' })).total_count).toBe(0);
      expect((await server.getTask({ task_id: 'T-0001', include_dependents: true })).dependents).toEqual([]);
    }),
  );

  promiseTest('tasks/null-clears', 'blocked_reason is cleared with the status, and kept while blocked', () =>
    withServer(async (server) => {
      const { task_id } = await server.createTask({ title: 'x', status: 'todo' });
      const blocked = { task_id, status: 'blocked' };
      expect((await server.refusal('task_update', { ...blocked, blocked_reason: null })).code).toBe('INVALID_PARAMS');
      await server.updateTask({ ...blocked, blocked_reason: 'no key' });
      expect((await server.updateTask({ task_id, blocked_reason: null })).warnings).toHaveLength(1);
      expect((await server.getTask({ task_id })).blocked_reason).toBe('no key');
      expect(await server.updateTask({ task_id, status: 'todo', blocked_reason: null })).not.toHaveProperty('warnings');
      expect(await server.getTask({ task_id })).not.toHaveProperty('blocked_reason');
    }),
  );

  promiseTest('tasks/null-clears', 'a claim with assignee null belongs to the actor', () =>
    withServer(async (server) => {
      const { task_id } = await server.createTask({ title: 'x', status: 'todo', assignee: 'bob' });
      expect(await server.updateTask({ task_id, status: 'in_progress', assignee: null })).toMatchObject({
        assignee: 'tester',
      });
    }),
  );

  promiseTest('tasks/null-clears', 'as the older contract sends it: absent, and the default priority', () =>
    withServer(async (server) => {
      const created = { title: 'a task', project_id: null, priority: null, labels: null, status: null };
      const { task_id } = await server.createTask(created);
      expect(await server.getTask({ task_id })).toMatchObject({ project: 'default', priority: 'normal' });
      await server.updateTask({ task_id, priority: 'high' });
      await server.updateTask({ id: task_id, patch: { priority: null } });
      expect(await server.getTask({ task_id })).toMatchObject({ priority: 'normal' });
      const every = { project_id: null, status: null, assignee: null, limit: null, search: null };
      expect(await server.listTasks(every)).toMatchObject({ total_count: 1, limit: 50 });
      expect(await server.nextActions({ project_id: null, limit: null })).toMatchObject({ project: 'default' });
      for (const input of [{ title: null }, { title: 'x', unknown: null }])
        expect((await server.refusal('task_create', input)).code).toBe('INVALID_PARAMS');
    }),
  );

  promiseTest('tasks/null-clears', 'task_create treats it as absent', () =>
    withServer(async (server) => {
      const cleared = { description: null, assignee: null, estimate_hours: null, parent_id: null };
      await server.createTask({ title: 'x' });
      await server.createTask({ title: 'x', ...cleared });
      const [plain, withNulls] = [
        await server.getTask({ task_id: 'T-0001' }),
        await server.getTask({ task_id: 'T-0002' }),
      ];
      const same = { task_id: '', created_at: '', updated_at: '' };
      expect({ ...withNulls, ...same }).toEqual({ ...plain, ...same });
    }),
  );
});

describe('inputs of both older contracts', () => {
  promiseTest('tasks/aliases', 'task_list accepts one status and ignores include_deleted', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'x', status: 'todo' });
      await server.createTask({ title: 'y' });
      for (const include_deleted of [true, false])
        expect((await server.listTasks({ status: 'todo', include_deleted })).total_count).toBe(1);
      expect((await server.listTasks({ status: ['todo', 'backlog'] })).total_count).toBe(2);
      for (const input of [{ status: 'someday' }, { include_deleted: 'yes' }, { include_deleted: null }])
        expect((await server.refusal('task_list', input)).code).toBe('INVALID_PARAMS');
      expect((await server.refusal('task_get', { id: 'T-0001', include_deleted: true })).code).toBe('INVALID_PARAMS');
    }),
  );
});

describe('an id of another shape', () => {
  promiseTest('tasks/unknown-id', 'the task tools answer ERR_NOT_FOUND', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'the one task' });
      for (const taskId of Object.values(UNKNOWN_IDS)) {
        const calls: readonly (readonly [string, Record<string, unknown>])[] = [
          ['task_get', { task_id: taskId }],
          ['task_update', { task_id: taskId, progress: 1 }],
          ['task_update', { task_id: 'T-0001', parent_id: taskId }],
          ['task_update', { task_id: 'T-0001', depends_on: [taskId] }],
          ['task_create', { title: 'x', parent_id: taskId }],
          ['task_create', { title: 'x', depends_on: ['T-0001', taskId] }],
        ];
        for (const [tool, input] of calls)
          expect(await server.refusal(tool, input)).toMatchObject({ code: 'ERR_NOT_FOUND', facts: { taskId } });
      }
      expect((await server.listTasks({})).total_count).toBe(1);
    }),
  );

  promiseTest('tasks/unknown-id', 'the tools of the trail and the proofs answer with their own codes', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'the one task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'tester' });
      await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'why' });
      const thought = { type: 'decision', content: 'why' };
      const codeOf = async (tool: string, input: Record<string, unknown>) => {
        const { code, facts } = await server.refusal(tool, input);
        return code === 'HANDLER_ERROR' ? facts['code'] : code;
      };
      for (const task_id of unknownIds('T', 'A')) {
        expect(await codeOf('audit_session_start', { task_id, auditor_id: 'x' })).toBe('ERR_TASK_NOT_FOUND');
        expect(await codeOf('thought_record', { task_id, ...thought })).toBe('ERR_TASK_NOT_FOUND');
        expect(await codeOf('thought_record_list', { task_id })).toBe('ERR_TASK_NOT_FOUND');
        expect(await codeOf('audit_verify_chain', { task_id })).toBe('ERR_NOT_FOUND');
        expect(await codeOf('merkle_finalize', { session_id: 'A-0001', task_id })).toBe('ERR_NO_RECORDS');
      }
      for (const session_id of unknownIds('A', 'T')) {
        const input = { task_id: 'T-0001', session_id };
        expect(await codeOf('thought_record', { ...input, ...thought })).toBe('ERR_SESSION_NOT_FOUND');
        expect(await codeOf('thought_record_list', { session_id })).toBe('ERR_SESSION_NOT_FOUND');
        expect(await codeOf('audit_verify_chain', { session_id })).toBe('ERR_NOT_FOUND');
        expect(await codeOf('merkle_finalize', { session_id })).toBe('ERR_SESSION_NOT_FOUND');
        expect(await codeOf('merkle_root', { session_id })).toBe('ERR_SESSION_NOT_FOUND');
      }
    }),
  );
});

describe('the queue of a fresh ledger', () => {
  promiseTest('tasks/fresh-queue', 'for the active project, named or not', () =>
    withServer(
      async (server) => {
        for (const input of [{}, { project: 'ours' }]) {
          const { hint, ...queue } = await server.nextActions({ ...input, include_blocked: true });
          expect(queue).toEqual({ next_actions: [], count: 0, project: 'ours', blocked: [] });
          expect(hint).toContain('task_create');
        }
        expect((await server.refusal('task_next_actions', { project: 'other' })).code).toBe('ERR_PROJECT_NOT_FOUND');
        await server.createTask({ title: 'x' });
        expect(await server.nextActions({})).not.toHaveProperty('hint');
        await server.createTask({ title: 'y', project: 'web', status: 'todo' });
        const { hint, count } = await server.nextActions({});
        expect({ hint, count }).toEqual({
          hint: 'nothing is ready in project ours; tasks are ready in web: call task_next_actions with project web',
          count: 0,
        });
        await server.updateTask({ task_id: 'T-0001', status: 'todo' });
        expect(await server.nextActions({})).not.toHaveProperty('hint');
      },
      { COLIBRI_PROJECT: 'ours' },
    ),
  );
});

describe('task_get', () => {
  promiseTest('tasks/truncated', 'more than 500 dependents', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'parent' });
      await addChildren(server, 500);
      const whole = await server.getTask({ task_id: 'T-0001', include_dependents: true });
      expect(whole.dependents).toHaveLength(500);
      expect(whole).not.toHaveProperty('truncated');
      await addChildren(server, 1);
      const cut = await server.getTask({ task_id: 'T-0001', include_dependents: true });
      expect(cut.dependents).toHaveLength(500);
      expect(cut).toMatchObject({ truncated: true, dependents_total: 501 });
    }),
  );
});

/** In one transaction: as many calls would take seconds. */
async function addChildren(server: TestServer, count: number): Promise<void> {
  const at = '2026-04-08T22:15:30.000Z';
  await server.database.write({ durable: false }, async (db) => {
    for (let child = 0; child < count; child += 1) {
      const [taskNo, sequence] = await nextNumbers(db, 'task', 'project/default');
      const identity = { sequence, project: 'default', workflow: 'board', at, actor: 'tester' } as const;
      await insertTask(
        db,
        newTask({ title: 'a child', parent_id: 'T-0001' }, { task_id: formatTaskId(taskNo), ...identity }),
        { unmet: 0 },
      );
    }
  });
}
