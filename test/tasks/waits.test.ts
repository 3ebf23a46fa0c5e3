import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

const queue = async (server: TestServer) => (await server.nextActions({})).next_actions.map(({ task_id }) => task_id);

async function waiting(server: TestServer) {
  const { blocked = [] } = await server.nextActions({ include_blocked: true });
  return blocked.map(({ task_id, blocked_reason, dependencies_unmet }) => [
    task_id,
    blocked_reason,
    dependencies_unmet,
  ]);
}

async function finish(server: TestServer, task_id: string): Promise<void> {
  await server.startSession({ task_id, auditor_id: 'tester' });
  await server.recordThought({ task_id, type: 'decision', content: 'finished' });
  for (const status of ['in_progress', 'review', 'done']) await server.updateTask({ task_id, status });
}

const todo = (server: TestServer, input: object = {}) =>
  server.createTask({ title: 'a task', status: 'todo', ...input });

describe('the queue', () => {
  promiseTest('tasks/waits', 'finishing a dependency makes its dependents available', () =>
    withServer(async (server) => {
      await todo(server);
      await todo(server);
      await todo(server, { depends_on: ['T-0001', 'T-0002'] });
      await todo(server, { depends_on: ['T-0003'] });
      expect(await queue(server)).toEqual(['T-0001', 'T-0002']);
      expect(await waiting(server)).toEqual([
        ['T-0003', 'waits for T-0001, T-0002', 2],
        ['T-0004', 'waits for T-0003', 1],
      ]);
      await finish(server, 'T-0001');
      expect(await queue(server)).toEqual(['T-0002']);
      expect(await waiting(server)).toContainEqual(['T-0003', 'waits for T-0002', 1]);
      await server.updateTask({ task_id: 'T-0002', status: 'cancelled' });
      expect(await queue(server)).toEqual(['T-0003']);
      await server.updateTask({ task_id: 'T-0004', depends_on: [] });
      expect(await queue(server)).toEqual(['T-0003', 'T-0004']);
    }),
  );

  promiseTest('tasks/waits', 'a parent waits for its children', () =>
    withServer(async (server) => {
      await todo(server);
      await todo(server, { parent_id: 'T-0001' });
      await server.createTask({ title: 'not even ready', parent_id: 'T-0001', depends_on: ['T-0002'] });
      expect(await server.nextActions({ include_blocked: true })).toEqual({
        next_actions: [
          {
            task_id: 'T-0002',
            title: 'a task',
            priority: 'normal',
            assignee: 'unassigned',
            parent_id: 'T-0001',
            dependencies_unmet: 0,
          },
        ],
        count: 1,
        project: 'default',
        blocked: [
          { task_id: 'T-0001', title: 'a task', blocked_reason: 'waits for T-0002, T-0003', dependencies_unmet: 2 },
        ],
      });
      expect((await server.getTask({ task_id: 'T-0001', include_dependents: true })).dependents).toEqual([
        'T-0002',
        'T-0003',
      ]);
      await server.updateTask({ task_id: 'T-0003', status: 'cancelled' });
      await finish(server, 'T-0002');
      expect(await queue(server)).toEqual(['T-0001']);
    }),
  );

  promiseTest('tasks/waits', 'order is highest priority, then oldest, within the project and the limit', () =>
    withServer(async (server) => {
      for (const priority of ['low', 'critical', 'normal', 'high', 'critical', 'low']) await todo(server, { priority });
      await todo(server, { project: 'other', priority: 'critical', estimate_hours: 2.5 });
      await server.createTask({ title: 'still in the backlog', priority: 'critical' });
      expect(await queue(server)).toEqual(['T-0002', 'T-0005', 'T-0004', 'T-0003', 'T-0001', 'T-0006']);
      expect((await server.nextActions({ limit: 2 })).count).toBe(2);
      const { next_actions, project } = await server.nextActions({ project_id: 'other' });
      expect(project).toBe('other');
      expect(next_actions).toMatchObject([{ task_id: 'T-0007', estimate_hours: 2.5 }]);
    }),
  );

  promiseTest('tasks/waits', 'a blocked task is listed with its own reason', () =>
    withServer(async (server) => {
      await todo(server);
      await todo(server, { depends_on: ['T-0001'] });
      await server.updateTask({ task_id: 'T-0002', status: 'blocked', blocked_reason: 'no key to the house' });
      expect(await waiting(server)).toEqual([['T-0002', 'no key to the house', 1]]);
      await server.updateTask({ task_id: 'T-0002', blocked_reason: 'no house' });
      expect(await waiting(server)).toEqual([['T-0002', 'no house', 1]]);
      await server.updateTask({ task_id: 'T-0002', status: 'todo' });
      expect(await waiting(server)).toEqual([['T-0002', 'waits for T-0001', 1]]);
    }),
  );

  it('every open status of a pipeline is offered', () =>
    withServer(
      async (server) => {
        await server.createTask({ title: 'a pipeline' });
        for (const status of ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY']) {
          expect(await queue(server)).toEqual(['T-0001']);
          await server.updateTask({ task_id: 'T-0001', status });
        }
        expect(await queue(server)).toEqual(['T-0001']);
        await server.updateTask({ task_id: 'T-0001', status: 'CANCELLED' });
        expect(await queue(server)).toEqual([]);
      },
      { COLIBRI_WORKFLOW: 'pipeline' },
    ));

  it('starting a task that still waits gives a warning with a few task ids', () =>
    withServer(async (server) => {
      await todo(server);
      for (let count = 0; count < 14; count += 1) await todo(server, { parent_id: 'T-0001' });
      const { warnings } = await server.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      expect(warnings).toHaveLength(1);
      expect(warnings?.[0]).toMatch(/^started while it waits for T-0002, (T-\d{4}, ){8}T-0011 and 4 more$/);
    }));

  it('a project exists once a task names it', () =>
    withServer(async (server) => {
      const { code, message, facts } = await server.refusal('task_next_actions', { project: 'nowhere' });
      expect({ code, facts }).toEqual({ code: 'ERR_PROJECT_NOT_FOUND', facts: { project: 'nowhere' } });
      expect(message).toContain('task_create');
      await server.createTask({ title: 'x', project: 'nowhere' });
      expect((await server.nextActions({ project: 'nowhere' })).next_actions).toEqual([]);
    }));
});

describe('a parent or dependency that does not exist', () => {
  const cases: Readonly<Record<string, object>> = {
    parent_id: { parent_id: 'T-0099' },
    'the only depends_on': { depends_on: ['T-0099'] },
    'one of several depends_on': { depends_on: ['T-0001', 'T-0099'] },
  };
  for (const [name, fields] of Object.entries(cases)) {
    promiseTest('tasks/waits', `${name} is ERR_NOT_FOUND, and no task number is consumed`, () =>
      withServer(async (server) => {
        await todo(server);
        for (const [tool, input] of [
          ['task_create', { title: 'x', ...fields }],
          ['task_create', { title: 'x', project: 'fresh', ...fields }],
          ['task_update', { task_id: 'T-0001', title: 'changed', ...fields }],
        ] as const) {
          const { pattern, code, facts, message } = await server.refusal(tool, input);
          expect({ pattern, code, facts }).toEqual({
            pattern: 'B',
            code: 'ERR_NOT_FOUND',
            facts: { taskId: 'T-0099' },
          });
          expect(message).toContain('T-0099');
        }
        expect(
          await server.query('SELECT (SELECT COUNT(*) FROM tasks) + (SELECT COUNT(*) FROM task_versions) AS n'),
        ).toEqual([{ n: 1 }]);
        expect((await server.refusal('task_next_actions', { project: 'fresh' })).code).toBe('ERR_PROJECT_NOT_FOUND');
        expect(await todo(server)).toMatchObject({ task_id: 'T-0002', sequence: 2 });
      }),
    );
  }
});
