import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { atDesk, type Desk } from '../support/task-server.ts';

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

async function taskIn(desk: Desk, workflow: string, state: string): Promise<string> {
  const { task_id } = await desk.create({ title: `a task in ${state}`, workflow });
  await desk.startSession({ task_id, auditor_id: 'tester' });
  await desk.think({ task_id, type: 'decision', content: 'so that it may be finished' });
  for (const status of WAYS[state] ?? []) await desk.update(step(task_id, status));
  return task_id;
}

function step(task_id: string, status: string) {
  return { task_id, status, ...(status === 'blocked' ? { blocked_reason: 'waits for the key' } : {}) };
}

for (const [workflow, table] of Object.entries(TABLES)) {
  describe(`the ${workflow} workflow`, () => {
    for (const [from, allowed] of Object.entries<readonly string[]>(table)) {
      promiseTest('tasks/transitions', `${from} goes to ${allowed.join(', ') || 'nothing'} and nowhere else`, () =>
        atDesk(async (desk) => {
          const stuck = await taskIn(desk, workflow, from);
          const { assignee } = await desk.get({ task_id: stuck });
          const events = await desk.query('SELECT idx FROM task_events');
          const refused = EVERY_STATE.filter((to) => !allowed.includes(to));
          expect(refused).toContain(from);
          for (const to of refused) {
            const { pattern, code, message, facts } = await desk.refusal('task_update', step(stuck, to));
            expect({ pattern, code, facts }).toEqual({
              pattern: 'B',
              code: 'ERR_INVALID_TRANSITION',
              facts: { taskId: stuck, from, to, allowed, assignee },
            });
            expect(message).toContain(`${stuck} is ${from}`);
            expect(message).toContain(allowed.length === 0 ? 'final' : allowed.join(', '));
            expect(message).toContain(assignee === 'unassigned' ? '; unassigned' : `assigned to ${assignee}`);
          }
          expect((await desk.get({ task_id: stuck })).status).toBe(from);
          expect(await desk.query('SELECT idx FROM task_events')).toEqual(events);
          for (const to of allowed) {
            const task_id = await taskIn(desk, workflow, from);
            expect(await desk.update(step(task_id, to))).toMatchObject({ status: to, previous_status: from });
            expect((await desk.get({ task_id })).status).toBe(to);
          }
        }),
      );
    }
  });
}

describe('a new task', () => {
  const entries: Readonly<Record<string, readonly string[]>> = { board: ['backlog', 'todo'], pipeline: ['INIT'] };

  it('starts only where its workflow begins', () =>
    atDesk(async (desk) => {
      for (const [workflow, allowed] of Object.entries(entries)) {
        expect((await desk.create({ title: 'default', workflow })).status).toBe(allowed[0]);
        for (const status of allowed)
          expect(await desk.create({ title: 'x', workflow, status })).toMatchObject({ status });
        for (const status of EVERY_STATE.filter((state) => !allowed.includes(state))) {
          const { code, facts, message } = await desk.refusal('task_create', { title: 'x', workflow, status });
          expect(code).toBe('ERR_INVALID_TRANSITION');
          expect(facts).toEqual({ from: null, to: status, allowed });
          expect(message).toContain(allowed.join(' or '));
        }
      }
      expect(await desk.query('SELECT COUNT(*) AS n FROM tasks')).toEqual([{ n: 5 }]);
    }));

  it('follows the workflow and the project of the environment unless told otherwise', () =>
    atDesk(
      async (desk) => {
        const { task_id, status } = await desk.create({ title: 'from the environment' });
        expect(status).toBe('INIT');
        expect(await desk.get({ task_id })).toMatchObject({ workflow: 'pipeline', project: 'ours' });
        const other = await desk.create({ title: 'asked for', workflow: 'board', project: 'theirs' });
        expect(other).toMatchObject({ status: 'backlog', task_id: 'T-0002', sequence: 1 });
        expect((await desk.next({})).project).toBe('ours');
      },
      { COLIBRI_PROJECT: 'ours', COLIBRI_WORKFLOW: 'pipeline' },
    ));
});
