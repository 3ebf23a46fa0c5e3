import { describe, expect, it } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

const WAY = {
  board: ['todo', 'in_progress', 'review'],
  pipeline: ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY'],
} as const;
const BACK = { board: 'backlog', pipeline: 'GATHER' } as const;
const DONE = { board: 'done', pipeline: 'DONE' } as const;

type Workflow = keyof typeof WAY;

async function taskBeforeDone(server: TestServer, workflow: Workflow): Promise<string> {
  const { task_id } = await server.createTask({ title: 'to be finished', workflow });
  await walk(server, task_id, WAY[workflow]);
  return task_id;
}

async function walk(server: TestServer, task_id: string, way: readonly string[]): Promise<void> {
  for (const status of way) await server.updateTask({ task_id, status });
}

async function think(server: TestServer, task_id: string): Promise<void> {
  await server.recordThought({ task_id, type: 'decision', content: 'it does what was asked' });
}

async function expectOwed(server: TestServer, task_id: string, input: Record<string, unknown>): Promise<void> {
  const before = await server.getTask({ task_id });
  const { pattern, code, message, facts } = await server.refusal('task_update', input);
  expect({ pattern, code, facts }).toEqual({
    pattern: 'B',
    code: 'ERR_WRITEBACK_REQUIRED',
    facts: { taskId: task_id, missing_fields: ['thought_record'] },
  });
  expect(message).toContain(`thought_record {"task_id":"${task_id}"`);
  expect(await server.getTask({ task_id })).toEqual(before);
}

for (const workflow of ['board', 'pipeline'] as const) {
  const done = DONE[workflow];

  describe(`finishing a ${workflow} task`, () => {
    promiseTest('tasks/writeback', `${workflow}: done is accepted after a thought record`, () =>
      withServer(async (server) => {
        const task_id = await taskBeforeDone(server, workflow);
        await server.startSession({ task_id, auditor_id: 'tester' });
        await think(server, task_id);
        expect(await server.updateTask({ task_id, status: done, progress: 100 })).toMatchObject({ status: done });
        const task = await server.getTask({ task_id, include_thought_trail: true });
        expect(task).toMatchObject({ status: done, attempt: 1 });
        expect(task.thought_trail).toHaveLength(1);
      }),
    );

    promiseTest('tasks/writeback', `${workflow}: no combination of fields and aliases bypasses the rule`, () =>
      withServer(async (server) => {
        const task_id = await taskBeforeDone(server, workflow);
        const whole = { status: done, progress: 100, description: 'thought_record: yes', labels: ['thought_record'] };
        await expectOwed(server, task_id, { task_id, status: done });
        await expectOwed(server, task_id, { task_id, ...whole, title: 'done', assignee: 'me', priority: 'critical' });
        await expectOwed(server, task_id, { id: task_id, status: done });
        await expectOwed(server, task_id, { id: task_id, patch: { status: done } });
        await expectOwed(server, task_id, { task_id, patch: whole });
        await expectOwed(server, task_id, { id: task_id, progress: 100, patch: { status: done } });
        for (const extra of [{ thought_record: 'because' }, { attempt: 0 }, { content: 'because' }, { force: true }]) {
          const { code } = await server.refusal('task_update', { task_id, status: done, ...extra });
          expect(code).toBe('INVALID_PARAMS');
        }
      }),
    );

    promiseTest('tasks/writeback', `${workflow}: a thought about another task does not count`, () =>
      withServer(async (server) => {
        const task_id = await taskBeforeDone(server, workflow);
        const child = await server.createTask({ title: 'its child', parent_id: task_id });
        await server.startSession({ task_id, auditor_id: 'tester', scope: 'deep' });
        const thought = { type: 'decision', content: task_id };
        await server.recordThought({ ...thought, task_id: child.task_id, session_id: 'A-0001' });
        await expectOwed(server, task_id, { task_id, status: done });
      }),
    );

    promiseTest('tasks/writeback', `${workflow}: a thought before the task was sent back does not count`, () =>
      withServer(async (server) => {
        const task_id = await taskBeforeDone(server, workflow);
        await server.startSession({ task_id, auditor_id: 'tester' });
        await think(server, task_id);
        for (const attempt of [2, 3]) {
          await server.updateTask({ task_id, status: BACK[workflow] });
          expect((await server.getTask({ task_id })).attempt).toBe(attempt);
          await walk(server, task_id, workflow === 'board' ? WAY.board : WAY.pipeline.slice(1));
          await expectOwed(server, task_id, { task_id, status: done });
          await think(server, task_id);
        }
        expect((await server.updateTask({ task_id, status: done })).previous_status).toBe(WAY[workflow].at(-1));
        expect((await server.getTask({ task_id })).attempt).toBe(3);
      }),
    );

    promiseTest('tasks/writeback', `${workflow}: a refused thought does not count`, () =>
      withServer(async (server) => {
        const task_id = await taskBeforeDone(server, workflow);
        const thought = { task_id, type: 'decision', content: 'why' };
        const unheard = await server.refusal('thought_record', thought);
        expect(unheard).toMatchObject({ pattern: 'A', code: 'HANDLER_ERROR', facts: { code: 'ERR_SESSION_REQUIRED' } });
        expect(unheard.message).toMatch(/^ERR_SESSION_REQUIRED: .*audit_session_start \{"task_id":"T-0001"/);
        await server.startSession({ task_id, auditor_id: 'tester' });
        for (const bad of [{ content: ' ' }, { type: 'excuse' }, { content: undefined }]) {
          expect((await server.refusal('thought_record', { ...thought, ...bad })).code).toBe('INVALID_PARAMS');
        }
        await expectOwed(server, task_id, { task_id, status: done });
      }),
    );
  });
}

describe('the steps to done', () => {
  promiseTest('tasks/writeback', 'a thought record does not allow a skipped step', () =>
    withServer(async (server) => {
      const { task_id } = await server.createTask({ title: 'too early' });
      await server.startSession({ task_id, auditor_id: 'tester' });
      await think(server, task_id);
      for (const status of ['done', 'DONE']) {
        expect((await server.refusal('task_update', { task_id, status })).code).toBe('ERR_INVALID_TRANSITION');
        expect((await server.refusal('task_create', { title: 'born done', status })).code).toBe(
          'ERR_INVALID_TRANSITION',
        );
        const pipeline = { title: 'born done', status, workflow: 'pipeline' };
        expect((await server.refusal('task_create', pipeline)).code).toBe('ERR_INVALID_TRANSITION');
      }
      expect((await server.listTasks({})).total_count).toBe(1);
    }),
  );

  promiseTest('tasks/writeback', 'a detour from review through blocked needs a new thought', () =>
    withServer(async (server) => {
      const task_id = await taskBeforeDone(server, 'board');
      await server.startSession({ task_id, auditor_id: 'tester' });
      await think(server, task_id);
      await server.updateTask({ task_id, status: 'blocked', blocked_reason: 'the reviewer found a defect' });
      await walk(server, task_id, ['in_progress', 'review']);
      await expectOwed(server, task_id, { task_id, status: 'done' });
      await think(server, task_id);
      expect((await server.updateTask({ task_id, status: 'done' })).status).toBe('done');
    }),
  );

  it('a task can be cancelled without a thought record', () =>
    withServer(async (server) => {
      const task_id = await taskBeforeDone(server, 'board');
      expect((await server.updateTask({ task_id, status: 'cancelled' })).status).toBe('cancelled');
    }));

  it('blocking and resuming a task keeps its attempt', () =>
    withServer(async (server) => {
      const { task_id } = await server.createTask({ title: 'x', status: 'todo' });
      await server.startSession({ task_id, auditor_id: 'tester' });
      await think(server, task_id);
      await server.updateTask({ task_id, status: 'blocked', blocked_reason: 'no key' });
      expect((await server.getTask({ task_id })).blocked_reason).toBe('no key');
      await walk(server, task_id, ['in_progress', 'review', 'done']);
      const { attempt, blocked_reason } = await server.getTask({ task_id });
      expect({ attempt, blocked_reason }).toEqual({ attempt: 1, blocked_reason: undefined });
    }));
});
