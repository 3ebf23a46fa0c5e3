import { describe, expect, it } from 'vitest';
import { changedTask, type Identity, newTask, updateWarnings } from './change.ts';
import { TASK_FIELDS } from './fields/table.ts';
import type { Task } from './record.ts';
import type { UpdateInput } from './schema.ts';

const AT = '2026-04-08T22:15:30.000Z';
const LATER = '2026-04-08T22:16:00.000Z';
const identity: Identity = {
  task_id: 'T-0042',
  sequence: 7,
  project: 'ours',
  workflow: 'board',
  at: AT,
  actor: 'alice',
};

const fresh = newTask({ title: 'a task' }, identity);
const inState = (status: string, fields: Partial<Task> = {}): Task => ({ ...fresh, status, ...fields });
const change = (task: Task, input: Omit<UpdateInput, 'task_id'>, actor = 'bob') =>
  changedTask(task, { task_id: task.task_id, ...input }, actor, LATER);
const warnings = (before: Task, input: Omit<UpdateInput, 'task_id'>, actor = 'bob') =>
  updateWarnings(before, change(before, input, actor), { task_id: before.task_id, ...input }, actor);

/** The initial values of the fields that were added after a release. */
const ADDED_LATER = Object.fromEntries(
  Object.entries(TASK_FIELDS).flatMap(([name, field]) => ('addedLater' in field ? [[name, field.initial]] : [])),
);

describe('newTask', () => {
  it('sets every field, with the defaults of the catalog', () => {
    expect(fresh).toEqual({
      task_id: 'T-0042',
      project: 'ours',
      sequence: 7,
      workflow: 'board',
      status: 'backlog',
      title: 'a task',
      description: '',
      priority: 'normal',
      progress: 0,
      assignee: 'unassigned',
      labels: [],
      estimate_hours: null,
      parent_id: null,
      depends_on: [],
      blocked_reason: null,
      ...ADDED_LATER,
      attempt: 1,
      created_at: AT,
      created_by: 'alice',
      updated_at: AT,
      updated_by: 'alice',
    });
  });

  it('keeps each label and each dependency once, in the order given', () => {
    const input = { title: 'x', labels: ['b', 'a', 'b'], depends_on: ['T-0002', 'T-0001', 'T-0002'] };
    expect(newTask(input, identity)).toMatchObject({ labels: ['b', 'a'], depends_on: ['T-0002', 'T-0001'] });
  });
});

describe('changedTask', () => {
  it('changes the given fields, the actor and the time', () => {
    expect(change(fresh, { progress: 0, estimate_hours: 0, description: '' })).toEqual({
      ...fresh,
      estimate_hours: 0,
      updated_at: LATER,
      updated_by: 'bob',
    });
    const input = { title: 'new', priority: 'low', labels: [], parent_id: 'T-0001', depends_on: ['T-0002'] } as const;
    expect(change(fresh, { ...input, labels: [], depends_on: ['T-0002'] })).toMatchObject(input);
  });

  it('assigns a started task to the actor, unless the call names an assignee', () => {
    expect(change(inState('todo'), { status: 'in_progress' }).assignee).toBe('bob');
    expect(change(inState('blocked'), { status: 'in_progress' }).assignee).toBe('bob');
    expect(change(inState('INIT', { workflow: 'pipeline' }), { status: 'GATHER' }).assignee).toBe('bob');
    expect(change(inState('todo', { assignee: 'carol' }), { status: 'in_progress' }).assignee).toBe('bob');
    expect(change(inState('todo'), { status: 'in_progress', assignee: 'dave' }).assignee).toBe('dave');
    expect(change(inState('backlog'), { status: 'todo' }).assignee).toBe('unassigned');
    expect(change(inState('todo'), { progress: 50 }).assignee).toBe('unassigned');
    const sentBack = change(inState('VERIFY', { workflow: 'pipeline' }), { status: 'GATHER' });
    expect(sentBack.assignee).toBe('unassigned');
  });

  it('counts another attempt only when the task is sent back', () => {
    expect(change(inState('review', { attempt: 2 }), { status: 'backlog' }).attempt).toBe(3);
    expect(change(inState('VERIFY', { workflow: 'pipeline' }), { status: 'GATHER' }).attempt).toBe(2);
    expect(change(inState('blocked'), { status: 'todo' }).attempt).toBe(1);
    expect(change(inState('review'), { status: 'blocked', blocked_reason: 'x' }).attempt).toBe(2);
    expect(change(inState('review'), { progress: 1 }).attempt).toBe(1);
  });

  it('keeps blocked_reason only while the task is blocked', () => {
    const blocked = change(inState('todo'), { status: 'blocked', blocked_reason: 'no key' });
    expect(blocked.blocked_reason).toBe('no key');
    expect(change(blocked, { progress: 5 }).blocked_reason).toBe('no key');
    expect(change(blocked, { blocked_reason: 'no lock' }).blocked_reason).toBe('no lock');
    expect(change(blocked, { status: 'todo' }).blocked_reason).toBeNull();
    expect(change(fresh, { blocked_reason: 'dropped' }).blocked_reason).toBeNull();
    expect(change(blocked, { blocked_reason: null }).blocked_reason).toBe('no key');
    expect(change(blocked, { status: 'todo', blocked_reason: null }).blocked_reason).toBeNull();
  });

  it('refuses a step that the workflow does not allow', () => {
    expect(() => change(fresh, { status: 'done' })).toThrow(
      'T-0042 is backlog; from there it can go to todo, cancelled',
    );
    expect(() => change(inState('done', { assignee: 'carol' }), { status: 'todo' })).toThrow(
      'T-0042 is done, which is final; assigned to carol; call task_create to add a task for what is left',
    );
  });
});

describe('updateWarnings', () => {
  const cases: readonly (readonly [string, Task, Omit<UpdateInput, 'task_id'>, readonly string[]])[] = [
    ['a plain change', fresh, { title: 'x' }, []],
    ['finished with all progress', inState('review', { progress: 100 }), { status: 'done' }, []],
    ['progress 100 before done', inState('todo'), { progress: 100 }, ['progress is 100 but the status is todo']],
    [
      'done below progress 100',
      inState('review', { progress: 5 }),
      { status: 'done' },
      ['the task is done but progress is 5'],
    ],
    ['a change of a finished task', inState('cancelled'), { title: 'x' }, ['the task was already cancelled']],
    [
      'a blocked_reason without blocked',
      fresh,
      { blocked_reason: 'x' },
      ['blocked_reason is ignored: the status is backlog'],
    ],
    [
      'a task assigned to another actor',
      inState('todo', { assignee: 'carol' }),
      { status: 'in_progress' },
      ['the task was assigned to carol'],
    ],
    [
      'clearing blocked_reason while blocked',
      inState('blocked', { blocked_reason: 'x' }),
      { blocked_reason: null },
      ['blocked_reason is kept while the status is blocked: move the task to clear it'],
    ],
    ['a task assigned to the actor', inState('todo', { assignee: 'bob' }), { status: 'in_progress' }, []],
    ['an unassigned task', inState('todo'), { status: 'in_progress' }, []],
  ];
  for (const [name, before, input, expected] of cases) {
    it(`warns about ${name}: ${expected.join(', ') || 'none'}`, () =>
      expect(warnings(before, input)).toEqual(expected));
  }
});
