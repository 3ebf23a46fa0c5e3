import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';
import { type Fields, type ModelTask, type NewFields, PRIORITIES, TaskModel } from './fixtures/model.ts';

const STATES = 'todo in_progress review done backlog blocked cancelled GATHER ANALYZE PLAN APPLY VERIFY DONE CANCELLED';
const PROJECTS = ['default', 'other'];

const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const seldom = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const state = fc.constantFrom(...STATES.split(' '));
const word = fc.constantFrom('sun', 'moon', 'star', 'red', 'todo');
const step = (status: string): Fields => ({ status, blocked_reason: status === 'blocked' ? 'no key' : undefined });
/** A few numbers, so that the same tasks meet again and again; the last one seldom exists. */
const id = fc.integer({ min: 1, max: 5 }).map((number) => `T-000${number}`);
const priority = fc.constantFrom(...PRIORITIES);
const labels = fc.array(fc.constantFrom('red', 'blue'), { maxLength: 3 });
const links = {
  parent_id: seldom(id),
  depends_on: seldom(fc.array(id, { maxLength: 3 })),
};

const create = fc.record({
  title: fc.constantFrom('sun', 'moon'),
  project: optional(fc.constantFrom(...PROJECTS)),
  workflow: optional(fc.constantFrom('board' as const, 'pipeline' as const)),
  status: seldom(fc.constantFrom('todo', 'backlog', 'INIT', 'done')),
  assignee: seldom(fc.constantFrom('alice', 'bob')),
  priority: optional(priority),
  labels: optional(labels),
  ...links,
});
const change = fc.record({
  progress: optional(fc.integer({ min: 0, max: 100 }).map((value) => (value % 7 === 1 ? value + 0.25 : value))),
  title: optional(fc.constantFrom('star', 'moon')),
  assignee: seldom(fc.constantFrom('alice', 'bob')),
  priority: optional(priority),
  labels: optional(labels),
  ...links,
});

type Command =
  | { readonly kind: 'create'; readonly input: NewFields }
  | { readonly kind: 'change' | 'move'; readonly task: string; readonly input: Fields }
  | { readonly kind: 'walk'; readonly task: string; readonly pick: number }
  | { readonly kind: 'think'; readonly task: string }
  | { readonly kind: 'look'; readonly project: string; readonly word: string };

/** Commands are data, so that a counterexample can be read. */
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), input: create }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change' as const), task: id, input: change }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), task: id, input: state.map(step) }) },
  { weight: 16, arbitrary: fc.record({ kind: fc.constant('walk' as const), task: id, pick: fc.nat() }) },
  { weight: 7, arbitrary: fc.record({ kind: fc.constant('think' as const), task: id }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('look' as const), project: fc.constantFrom(...PROJECTS), word }),
  },
);

async function run(server: TestServer, model: TaskModel, command: Command): Promise<void> {
  switch (command.kind) {
    case 'create':
      return doCreate(server, model, command.input);
    case 'change':
    case 'move':
      return doUpdate(server, model, command.task, command.input);
    case 'walk':
      return walkOn(server, model, command.task, command.pick);
    case 'think':
      return think(server, model, command.task);
    case 'look':
      await lookAtQueue(server, model, command.project);
      return lookAtLists(server, model, command.word);
  }
}

/** What JSON leaves of it: fields without a value are not sent. */
function sent(input: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(input)) as Record<string, unknown>;
}

async function doCreate(server: TestServer, model: TaskModel, input: NewFields): Promise<void> {
  const faults = model.faultsOfCreate(input);
  const { data, failure } = await server.call('task_create', sent(input));
  if (failure !== undefined) return expect(faults).toContain(failure.code);
  expect(faults).toEqual([]);
  const { created_at } = data as { created_at: string };
  const { task_id, status, sequence } = model.create(input, created_at);
  expect(data).toEqual({ task_id, status, sequence, created_at, created_by: 'tester' });
}

async function doUpdate(server: TestServer, model: TaskModel, task_id: string, input: Fields): Promise<void> {
  if (Object.values(input).every((value) => value === undefined)) return;
  const faults = model.faultsOfUpdate(task_id, input);
  const before = model.find(task_id)?.status;
  const { data, failure } = await server.call('task_update', sent({ task_id, ...input }));
  if (failure !== undefined) return expect(faults).toContain(failure.code);
  expect(faults).toEqual([]);
  const { updated_at } = data as { updated_at: string };
  model.update(task_id, input, updated_at);
  const { status, progress, assignee, holder } = model.find(task_id) as ModelTask;
  const previous_status = before === status ? undefined : before;
  expect(data).toMatchObject({
    task_id,
    status,
    progress,
    assignee,
    updated_by: 'tester',
    ...(previous_status && { previous_status }),
    ...(holder && { holder }),
  });
  expect('holder' in (data as object)).toBe(holder !== undefined);
}

/** Mostly legal steps, so that tasks get far; the refusal itself says which these are. */
async function walkOn(server: TestServer, model: TaskModel, task_id: string, pick: number): Promise<void> {
  const task = model.find(task_id);
  if (task === undefined) return;
  if (model.claimableAs(task).length > 0) await doUpdate(server, model, task_id, step(task.status));
  const { facts } = await server.refusal('task_update', {
    task_id,
    status: task.status,
    ...(task.status === 'blocked' && { blocked_reason: 'x' }),
  });
  const allowed = facts['allowed'] as string[];
  const onwards = pick % 8 === 0 ? allowed : allowed.filter((status) => status.toLowerCase() !== 'cancelled');
  const status = onwards[pick % Math.max(1, onwards.length)];
  if (status !== undefined) await doUpdate(server, model, task_id, step(status));
}

async function think(server: TestServer, model: TaskModel, task_id: string): Promise<void> {
  const task = model.find(task_id);
  const { failure } = await server.call('thought_record', { task_id, type: 'decision', content: 'why' });
  if (task === undefined) return expect(failure?.facts['code']).toBe('ERR_TASK_NOT_FOUND');
  if (task.hasSession) {
    expect(failure).toBeUndefined();
    task.isExplained = true;
  } else {
    expect(failure?.facts['code']).toBe('ERR_SESSION_REQUIRED');
    await server.startSession({ task_id, auditor_id: 'tester' });
    task.hasSession = true;
  }
}

async function lookAtQueue(server: TestServer, model: TaskModel, project: string): Promise<void> {
  const { data, failure } = await server.call('task_next_actions', { project, include_blocked: true });
  const exists = project === 'default' || model.tasks.some((task) => task.project === project);
  if (!exists) return expect(failure?.code).toBe('ERR_PROJECT_NOT_FOUND');
  const { next_actions, blocked } = data as Awaited<ReturnType<TestServer['nextActions']>>;
  expect(next_actions.map(({ task_id }) => task_id)).toEqual(model.nextActions(project));
  expect(blocked?.map(({ task_id }) => task_id).toSorted()).toEqual(model.held(project));
  for (const { task_id, dependencies_unmet } of blocked ?? []) {
    expect(dependencies_unmet).toBe(model.unmet(model.find(task_id) as ModelTask).length);
  }
}

async function lookAtLists(server: TestServer, model: TaskModel, word: string): Promise<void> {
  const questions = [
    { ask: { search: word }, has: ({ title }: ModelTask) => title === word },
    { ask: { label: word }, has: ({ labels }: ModelTask) => labels.includes(word) },
    { ask: { status: ['todo', 'GATHER'] }, has: ({ status }: ModelTask) => ['todo', 'GATHER'].includes(status) },
    {
      ask: { project: 'other', priority: ['high'] },
      has: (task: ModelTask) => task.project === 'other' && task.priority === 'high',
    },
    { ask: { assignee: 'alice' }, has: ({ assignee }: ModelTask) => assignee === 'alice' },
  ];
  for (const { ask, has } of questions) {
    const { tasks, total_count } = await server.listTasks({ ...ask, sort_by: 'created', sort_order: 'asc' });
    expect(tasks.map(({ task_id }) => task_id)).toEqual(model.tasks.filter(has).map(({ task_id }) => task_id));
    expect(total_count).toBe(tasks.length);
  }
}

/** At the end: each stored task, and as many events as there were changes. withServer verifies the ledger. */
async function compareAll(server: TestServer, model: TaskModel): Promise<void> {
  for (const project of PROJECTS) await lookAtQueue(server, model, project);
  await lookAtLists(server, model, 'moon');
  for (const { isExplained: _explained, hasSession: _session, sequence: _sequence, ...task } of model.tasks) {
    const stored = await server.getTask({ task_id: task.task_id });
    const {
      description: _text,
      estimate_hours: _hours,
      created_at: _at,
      created_by: _by,
      updated_by: _who,
      claim,
      ...shown
    } = stored;
    expect(shown).toEqual(sent(task));
    expect(claim === undefined).toBe(task.holder === undefined);
  }
  expect(
    await server.query('SELECT (SELECT COUNT(*) FROM tasks) + (SELECT COUNT(*) FROM task_versions) AS events'),
  ).toEqual([{ events: model.changes }]);
  expect(await server.query('SELECT COUNT(*) AS tasks FROM tasks')).toEqual([{ tasks: model.tasks.length }]);
}

/** Random calls prove nothing about rules that none of them meets. */
const MUST_MEET = [
  'task_create ERR_CIRCULAR_DEPENDENCY',
  'task_create ERR_INVALID_TRANSITION',
  'task_create ERR_NOT_FOUND',
  'task_create ok',
  'task_next_actions ok',
  'task_update ERR_CIRCULAR_DEPENDENCY',
  'task_update ERR_INVALID_TRANSITION',
  'task_update ERR_NOT_FOUND',
  'task_update ERR_WRITEBACK_REQUIRED',
  'task_update ok',
  'thought_record ok',
  'a task that is done',
  'a task that is DONE',
  'a second attempt',
];

describe('random calls', () => {
  promiseTest('tasks/model', 'random sequences of create, update, thought and list calls', async () => {
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 60, maxLength: 120, size: 'max' }), (commands) =>
        withServer(async (server) => {
          const model = new TaskModel('tester');
          for (const command of commands) await run(server, model, command);
          await compareAll(server, model);
          const calls = await server.query<{ met: string }>("SELECT DISTINCT tool || ' ' || outcome AS met FROM calls");
          for (const call of calls) met.add(call.met);
          for (const { status } of model.tasks) met.add(`a task that is ${status}`);
          if (model.tasks.some(({ attempt }) => attempt > 1)) met.add('a second attempt');
        }),
      ),
      { seed: 20_260_408, numRuns: 15, endOnFailure: true },
    );
    expect(MUST_MEET.filter((event) => !met.has(event))).toEqual([]);
  });
});
