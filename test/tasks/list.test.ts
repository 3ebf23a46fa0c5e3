import { describe, expect, it, vi } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { serverForAll, type TestServer } from '../support/test-server.ts';

const PRIORITIES = ['low', 'normal', 'high', 'critical'];
const PROJECTS = ['default', 'other'];
const ASSIGNEES = [undefined, 'alice', 'bob'];
const LABELS = [[], ['red'], ['red', 'blue'], ['blue']];
const WORDS = ['sun', 'moon', 'sun moon', 'star'];

/** Small periods that share no factor: every combination of values occurs, and every value has many ties. */
async function fill(server: TestServer): Promise<void> {
  // A clock that stands still for eight tasks at a time: times have ties too.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-04-08T22:00:00.000Z') });
  for (let count = 0; count < 60; count += 1) {
    if (count % 8 === 7) vi.setSystemTime(Date.now() + 1);
    const { task_id } = await server.createTask({
      title: `${WORDS[count % 4]} ${count}`,
      status: count % 7 < 4 ? 'todo' : 'backlog',
      project: PROJECTS[count % 2],
      priority: PRIORITIES[Math.floor(count / 3) % 4],
      labels: LABELS[count % 4],
      ...(count % 3 === 0 ? {} : { assignee: ASSIGNEES[count % 3] }),
    });
    if (count % 5 === 0) await server.updateTask({ task_id, progress: (count % 3) * 25 });
    if (count % 7 === 0) await server.updateTask({ task_id, status: 'in_progress' });
    if (count % 7 === 6) await server.updateTask({ task_id, status: 'cancelled' });
  }
  vi.useRealTimers();
}

describe('a list', () => {
  const server = serverForAll(fill);

  async function readAll(): Promise<Listed[]> {
    const { tasks, total_count } = await server().listTasks({ limit: 500, sort_by: 'created', sort_order: 'asc' });
    expect(tasks).toHaveLength(60);
    expect(total_count).toBe(60);
    return tasks;
  }

  const filters: readonly Question[] = [
    {},
    { project: 'other' },
    { project_id: 'other' },
    { project: 'nowhere' },
    { status: ['todo'] },
    { status: ['todo', 'in_progress', 'todo'] },
    { status: ['done', 'DONE', 'INIT'] },
    { status: [] },
    { priority: ['critical'] },
    { priority: ['low', 'high'] },
    { priority: [] },
    { assignee: 'alice' },
    { assignee: 'unassigned' },
    { assignee: 'Alice' },
    { label: 'red' },
    { label: 'Red' },
    { search: 'sun' },
    { search: 'sun moon' },
    { project: 'default', status: ['todo'], priority: ['normal', 'low'] },
    { project: 'default', status: ['todo', 'cancelled'], assignee: 'bob' },
    { project: 'default', label: 'red', search: 'moon', priority: ['low', 'normal', 'high', 'critical'] },
    { assignee: 'alice', label: 'blue', status: ['todo', 'backlog', 'in_progress'], search: 'st' },
    { created_after: '2020-01-01', created_before: '2999-01-01T00:00:00+02:00', label: 'blue', project: 'other' },
    { created_after: '2999-01-01' },
    { created_before: '2020-01-01T00:00:00.000Z' },
  ];
  for (const filter of filters) {
    promiseTest('tasks/list', `${JSON.stringify(filter)} matches a naive filter, and its count`, async () => {
      const expected = (await readAll()).filter((task) => matches(task, filter));
      const { tasks, total_count } = await server().listTasks({
        ...filter,
        limit: 500,
        sort_by: 'created',
        sort_order: 'asc',
      });
      expect(tasks).toEqual(expected);
      expect(total_count).toBe(expected.length);
      const page = await server().listTasks({ ...filter, limit: 1, offset: 1 });
      expect(page).toMatchObject({ total_count, returned_count: expected.length > 1 ? 1 : 0, limit: 1, offset: 1 });
    });
  }

  promiseTest('tasks/list', 'time bounds are exclusive', async () => {
    const all = await readAll();
    const middle = all[30]?.created_at as string;
    const after = await server().listTasks({ created_after: middle, limit: 500 });
    const before = await server().listTasks({ created_before: middle, limit: 500 });
    expect(after.total_count).toBe(all.filter(({ created_at }) => created_at > middle).length);
    expect(before.total_count).toBe(all.filter(({ created_at }) => created_at < middle).length);
  });

  for (const sort_by of ['created', 'updated', 'priority', 'progress'] as const) {
    for (const sort_order of ['asc', 'desc'] as const) {
      for (const filter of [{}, { project: 'default' }, { status: ['todo'] }, { search: 'sun' }, { label: 'red' }]) {
        promiseTest(
          'tasks/list',
          `${sort_by} ${sort_order} of ${JSON.stringify(filter)}: pages hold each task once`,
          async () => {
            const expected = (await readAll()).filter((task) => matches(task, filter)).toSorted(compare(sort_by));
            if (sort_order === 'desc') expected.reverse();
            for (const limit of [7, 23]) {
              const seen: Listed[] = [];
              for (let offset = 0; offset === 0 || offset < expected.length; offset += limit) {
                const page = await server().listTasks({ ...filter, sort_by, sort_order, limit, offset });
                expect(page).toMatchObject({
                  total_count: expected.length,
                  returned_count: page.tasks.length,
                  offset,
                  limit,
                });
                seen.push(...page.tasks);
              }
              expect(seen).toEqual(expected);
            }
          },
        );
      }
    }
  }

  it('a page past the end is empty, and the default page has fifty rows, last changed first', async () => {
    expect(await server().listTasks({ offset: 9_000_000_000 })).toMatchObject({
      tasks: [],
      total_count: 60,
      returned_count: 0,
    });
    const { tasks, limit, offset, returned_count } = await server().listTasks({});
    expect({ limit, offset, returned_count }).toEqual({ limit: 50, offset: 0, returned_count: 50 });
    expect(tasks).toEqual((await readAll()).toSorted(compare('updated')).reverse().slice(0, 50));
  });

  it('rows have only the fields of the catalog', async () => {
    const { tasks } = await server().listTasks({ limit: 1 });
    expect(Object.keys(tasks[0] ?? {}).toSorted()).toEqual([
      'assignee',
      'created_at',
      'priority',
      'progress',
      'project',
      'status',
      'task_id',
      'title',
      'updated_at',
    ]);
    expect(JSON.stringify(tasks[0]).length).toBeLessThan(250);
  });
});

type Listed = Awaited<ReturnType<TestServer['listTasks']>>['tasks'][number];

/** The filters of a list. */
interface Question {
  readonly project?: string;
  readonly project_id?: string;
  readonly status?: readonly string[];
  readonly priority?: readonly string[];
  readonly assignee?: string;
  readonly label?: string;
  readonly search?: string;
  readonly created_after?: string;
  readonly created_before?: string;
}

function matches(task: Listed, { project_id, project = project_id, ...filter }: Question): boolean {
  const { status, priority, assignee, label, search, created_after, created_before } = filter;
  const labels = LABELS[(Number(task.task_id.slice(2)) - 1) % LABELS.length] ?? [];
  const has = (word: string) => task.title.split(' ').some((other) => other.startsWith(word));
  return [
    project === undefined || project === task.project,
    status === undefined || status.includes(task.status),
    priority === undefined || priority.includes(task.priority),
    assignee === undefined || assignee === task.assignee,
    label === undefined || labels.includes(label),
    created_after === undefined || new Date(task.created_at) > new Date(created_after),
    created_before === undefined || new Date(task.created_at) < new Date(created_before),
    search === undefined || search.split(' ').every(has),
  ].every(Boolean);
}

/** Ascending order; equal tasks in the order of their creation. */
function compare(by: 'created' | 'updated' | 'priority' | 'progress') {
  const key = (task: Listed): string | number =>
    ({
      created: '',
      updated: task.updated_at,
      priority: PRIORITIES.indexOf(task.priority),
      progress: task.progress,
    })[by];
  return (one: Listed, other: Listed): number => {
    const [left, right] = [key(one), key(other)];
    if (left === right) return one.task_id < other.task_id ? -1 : 1;
    return left < right ? -1 : 1;
  };
}
