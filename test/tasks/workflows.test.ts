import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

/** The two tables as the specification writes them, on purpose not read from the product. */
const TABLES = {
  board: {
    backlog: ['todo', 'cancelled'],
    todo: ['in_progress', 'blocked', 'cancelled'],
    in_progress: ['review', 'blocked', 'cancelled'],
    blocked: ['todo', 'in_progress', 'cancelled'],
    review: ['done', 'backlog', 'blocked', 'cancelled'],
    done: [],
    cancelled: [],
  },
  pipeline: {
    INIT: ['GATHER', 'CANCELLED'],
    GATHER: ['ANALYZE', 'CANCELLED'],
    ANALYZE: ['PLAN', 'CANCELLED'],
    PLAN: ['APPLY', 'CANCELLED'],
    APPLY: ['VERIFY', 'CANCELLED'],
    VERIFY: ['DONE', 'GATHER', 'CANCELLED'],
    DONE: [],
    CANCELLED: [],
  },
} as const;

/** A shortest way to each state from where tasks begin. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  backlog: [],
  todo: ['todo'],
  in_progress: ['todo', 'in_progress'],
  blocked: ['todo', 'blocked'],
  review: ['todo', 'in_progress', 'review'],
  done: ['todo', 'in_progress', 'review', 'done'],
  cancelled: ['cancelled'],
  INIT: [],
  GATHER: ['GATHER'],
  ANALYZE: ['GATHER', 'ANALYZE'],
  PLAN: ['GATHER', 'ANALYZE', 'PLAN'],
  APPLY: ['GATHER', 'ANALYZE', 'PLAN', 'APPLY'],
  VERIFY: ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY'],
  DONE: ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY', 'DONE'],
  CANCELLED: ['CANCELLED'],
};

const EVERY_STATE = Object.values(TABLES).flatMap((table) => Object.keys(table));

async function taskIn(server: TestServer, workflow: string, state: string): Promise<string> {
  const { task_id } = await server.createTask({ title: `a task in ${state}`, workflow });
  await server.startSession({ task_id, auditor_id: 'tester' });
  await server.recordThought({ task_id, type: 'decision', content: 'so that it may be finished' });
  for (const status of WAYS[state] ?? []) await server.updateTask(step(task_id, status));
  return task_id;
}

function step(task_id: string, status: string) {
  return { task_id, status, ...(status === 'blocked' ? { blocked_reason: 'waits for the key' } : {}) };
}

for (const [workflow, table] of Object.entries(TABLES)) {
  describe(`the ${workflow} workflow`, () => {
    for (const [from, allowed] of Object.entries<readonly string[]>(table)) {
      promiseTest('tasks/transitions', `${from} goes to ${allowed.join(', ') || 'nothing'} and nowhere else`, () =>
        withServer(async (server) => {
          const stuck = await taskIn(server, workflow, from);
          const { assignee } = await server.getTask({ task_id: stuck });
          const events = await server.query(
            'SELECT idx FROM task_versions UNION ALL SELECT event_idx AS idx FROM tasks ORDER BY idx',
          );
          const refused = EVERY_STATE.filter((to) => !allowed.includes(to));
          expect(refused).toContain(from);
          for (const to of refused) {
            const { pattern, code, message, facts } = await server.refusal('task_update', step(stuck, to));
            expect({ pattern, code, facts }).toEqual({
              pattern: 'B',
              code: 'ERR_INVALID_TRANSITION',
              facts: { taskId: stuck, from, to, allowed, assignee },
            });
            expect(message).toContain(`${stuck} is ${from}`);
            expect(message).toContain(allowed.length === 0 ? 'final' : allowed.join(', '));
            expect(message).toContain(assignee === 'unassigned' ? '; unassigned' : `assigned to ${assignee}`);
          }
          expect((await server.getTask({ task_id: stuck })).status).toBe(from);
          expect(
            await server.query(
              'SELECT idx FROM task_versions UNION ALL SELECT event_idx AS idx FROM tasks ORDER BY idx',
            ),
          ).toEqual(events);
          for (const to of allowed) {
            const task_id = await taskIn(server, workflow, from);
            expect(await server.updateTask(step(task_id, to))).toMatchObject({ status: to, previous_status: from });
            expect((await server.getTask({ task_id })).status).toBe(to);
          }
        }),
      );
    }
  });
}

describe('a new task', () => {
  const entries: Readonly<Record<string, readonly string[]>> = { board: ['backlog', 'todo'], pipeline: ['INIT'] };

  it('a new task starts only in a first status of its workflow', () =>
    withServer(async (server) => {
      for (const [workflow, allowed] of Object.entries(entries)) {
        expect((await server.createTask({ title: 'default', workflow })).status).toBe(allowed[0]);
        for (const status of allowed)
          expect(await server.createTask({ title: 'x', workflow, status })).toMatchObject({ status });
        for (const status of EVERY_STATE.filter((state) => !allowed.includes(state))) {
          const { code, facts, message } = await server.refusal('task_create', { title: 'x', workflow, status });
          expect(code).toBe('ERR_INVALID_TRANSITION');
          expect(facts).toEqual({ from: null, to: status, allowed });
          expect(message).toContain(allowed.join(' or '));
        }
      }
      expect(await server.query('SELECT COUNT(*) AS n FROM tasks')).toEqual([{ n: 5 }]);
    }));

  it('workflow and project default to those of the environment', () =>
    withServer(
      async (server) => {
        const { task_id, status } = await server.createTask({ title: 'from the environment' });
        expect(status).toBe('INIT');
        expect(await server.getTask({ task_id })).toMatchObject({ workflow: 'pipeline', project: 'ours' });
        const other = await server.createTask({ title: 'asked for', workflow: 'board', project: 'theirs' });
        expect(other).toMatchObject({ status: 'backlog', task_id: 'T-0002', sequence: 1 });
        expect((await server.nextActions({})).project).toBe('ours');
      },
      { COLIBRI_PROJECT: 'ours', COLIBRI_WORKFLOW: 'pipeline' },
    ));
});
