import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Task, type TaskRow, taskFields, toColumns } from '../../src/domains/tasks/record.ts';
import { listVersions } from '../../src/domains/tasks/versions.ts';
import { isOpen } from '../../src/domains/tasks/workflows.ts';
import { PRIORITIES } from '../../src/integrity/index.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

interface Event {
  readonly idx: number;
  readonly task_no: number;
  readonly salt: string;
  readonly content: string;
  readonly kind: string;
  readonly entry: string;
}

/** Every version of every task with its entry, in the order of the log. */
async function listEvents(server: TestServer): Promise<Event[]> {
  const versions = await server.database.read(async (reader) => {
    const tasks = await reader.query<{ task_no: number }>('SELECT task_no FROM tasks');
    return Promise.all(tasks.map(({ task_no }) => listVersions(reader, task_no)));
  });
  const events = versions.flat().map((version) => {
    const { content, entry } = version;
    if (content === null || entry === null) throw new Error(`entry ${version.idx} is not readable`);
    return { ...version, content, entry, kind: kindOf(entry) };
  });
  return events.toSorted((one, other) => one.idx - other.idx);
}

function kindOf(entry: string): string {
  return (JSON.parse(entry) as { kind: string }).kind;
}

/** The kinds of all entries, by index. */
async function listKinds(server: TestServer): Promise<string[]> {
  const entries = await server.query<{ entry: string }>('SELECT entry FROM ledger_entries ORDER BY idx');
  return entries.map(({ entry }) => kindOf(entry));
}

/** A little of everything, so that every column has held more than one value. */
async function work(server: TestServer): Promise<void> {
  await server.createTask({ title: 'first', labels: ['b', 'a', 'b'], estimate_hours: 0.1, status: 'todo' });
  await server.createTask({ title: 'second', parent_id: 'T-0001', project: 'other', description: '設計\n\t"quoted"' });
  await server.createTask({
    title: 'third',
    workflow: 'pipeline',
    depends_on: ['T-0002', 'T-0001'],
    assignee: 'alice',
  });
  await server.updateTask({ task_id: 'T-0001', status: 'blocked', blocked_reason: 'no key', labels: ['c'] });
  await server.updateTask({ task_id: 'T-0002', status: 'todo', priority: 'critical', progress: 33 });
  await server.updateTask({ task_id: 'T-0002', status: 'in_progress', title: 'second, renamed' });
  await server.updateTask({ task_id: 'T-0003', depends_on: ['T-0002'], estimate_hours: 1000, parent_id: 'T-0001' });
  await server.updateTask({ task_id: 'T-0001', status: 'cancelled' });
  await server.refusal('task_update', { task_id: 'T-0001', status: 'todo' });
  await server.refusal('task_create', { title: 'x', parent_id: 'T-0099' });
}

/** SHA-256( "colibri:task:v1" LF, salt, content ), written out again here so that a slip in the product shows. */
function digest({ salt, content }: Event): string {
  return createHash('sha256')
    .update('colibri:task:v1\n')
    .update(Buffer.from(salt, 'hex'))
    .update(content)
    .digest('hex');
}

describe('the ledger', () => {
  promiseTest('tasks/ledger', 'each create and update is one entry with the digest of the whole row', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'the task', labels: ['red'] });
      await server.updateTask({ task_id: 'T-0001', status: 'todo' });
      await server.updateTask({ task_id: 'T-0001', status: 'in_progress', progress: 10 });
      const events = await listEvents(server);
      expect(events.map(({ kind }) => kind)).toEqual(['task.created', 'task.updated', 'task.updated']);
      for (const event of events) {
        const row = JSON.parse(event.content) as Task;
        expect(JSON.parse(event.entry)).toEqual({
          v: 1,
          kind: event.kind,
          at: row.updated_at,
          actor: 'tester',
          task_id: 'T-0001',
          task: digest(event),
          sessions: [],
        });
      }
      const whole = JSON.parse(events.at(-1)?.content ?? '') as Record<string, unknown>;
      const { claim, ...shown } = await server.getTask({ task_id: 'T-0001' });
      expect(claim).toBe(events.at(-1)?.idx);
      expect(whole).toEqual({ ...shown, sequence: 1, estimate_hours: null, parent_id: null, blocked_reason: null });
    }),
  );

  promiseTest('tasks/ledger', 'a refused change leaves only the enter and exit of its call', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'x' });
      const before = await listKinds(server);
      for (const status of ['done', 'backlog', 'VERIFY'])
        await server.refusal('task_update', { task_id: 'T-0001', status });
      await server.refusal('task_update', { task_id: 'T-0002', progress: 1 });
      await server.refusal('task_update', { task_id: 'T-0001', depends_on: ['T-0001'] });
      expect(await listKinds(server)).toEqual([
        ...before,
        ...Array.from({ length: 5 }, () => ['action.enter', 'action.exit']).flat(),
      ]);
      const outcomes = await server.query<{ outcome: string }>('SELECT outcome FROM actions ORDER BY sequence_no');
      expect(outcomes.map(({ outcome }) => outcome)).toEqual([
        'ok',
        ...Array.from({ length: 3 }, () => 'ERR_INVALID_TRANSITION'),
        'ERR_NOT_FOUND',
        'ERR_CIRCULAR_DEPENDENCY',
      ]);
    }),
  );

  promiseTest('tasks/ledger', 'the change and its exit are adjacent entries of one transaction', () =>
    withServer(async (server) => {
      await work(server);
      const kinds = await listKinds(server);
      for (const [idx, kind] of kinds.entries())
        if (kind.startsWith('task.'))
          expect([kinds[idx - 1], kind, kinds[idx + 1]]).toEqual(['action.enter', kind, 'action.exit']);
    }),
  );

  promiseTest('tasks/ledger', 'every task table can be rebuilt from the events', () =>
    withServer(async (server) => {
      await work(server);
      const last = new Map<number, Event>();
      const tokens = new Map<number, number>();
      for (const event of await listEvents(server)) {
        // Each task is claimed once here.
        if (event.content.includes('"holder"') && !tokens.has(event.task_no)) tokens.set(event.task_no, event.idx);
        last.set(event.task_no, event);
      }
      expect(tokens.size).toBeGreaterThan(0);
      const tasks = [...last.values()].map(({ content }) => taskFields.fromContent(content));
      const number = (id: string) => Number(id.slice(2));
      const open = tasks.filter(({ status }) => isOpen(status));
      const unmet = open
        .map(({ task_id, depends_on }) => ({
          task_no: number(task_id),
          unmet: open.filter((other) => depends_on.includes(other.task_id) || other.parent_id === task_id).length,
        }))
        .filter((row) => row.unmet > 0);
      expect(unmet).toEqual([{ task_no: 3, unmet: 1 }]);
      expect(await server.query('SELECT * FROM task_unmet')).toEqual(unmet);

      const rows = await server.query<TaskRow>('SELECT * FROM tasks ORDER BY task_no');
      expect(rows).toEqual(
        [...last.values()].map(({ idx, salt, task_no }, index) =>
          toColumns(
            tasks[index] as Task,
            { event_idx: idx, salt, claim_idx: tokens.get(task_no) ?? null },
            unmet.some((row) => row.task_no === task_no),
          ),
        ),
      );
      for (const row of rows) expect(row).toMatchObject(plainColumns(tasks.find(({ title }) => title === row.title)));

      expect(await server.query('SELECT task_no, label FROM task_labels ORDER BY task_no, label')).toEqual(
        tasks.flatMap(({ task_id, labels }) => labels.toSorted().map((label) => ({ task_no: number(task_id), label }))),
      );
      expect(await server.query('SELECT * FROM task_dependencies ORDER BY task_no, depends_on')).toEqual(
        tasks.flatMap(({ task_id, depends_on }) =>
          depends_on.toSorted().map((id) => ({ task_no: number(task_id), depends_on: number(id) })),
        ),
      );
      const counts = await server.query(
        'SELECT project, status, priority, assignee, tasks FROM task_counts WHERE tasks <> 0',
      );
      const groups = new Map<string, number>();
      for (const { project, status, priority, assignee } of tasks) {
        const group = JSON.stringify({ project, status, priority: PRIORITIES.indexOf(priority), assignee });
        groups.set(group, (groups.get(group) ?? 0) + 1);
      }
      expect(counts).toHaveLength(groups.size);
      for (const [group, count] of groups) {
        expect(counts).toContainEqual({ ...(JSON.parse(group) as object), tasks: count });
      }
      expect(
        await server.query("SELECT * FROM counters WHERE name LIKE 'project/%' OR name = 'task' ORDER BY name"),
      ).toEqual([
        { name: 'project/default', value: 2 },
        { name: 'project/other', value: 1 },
        { name: 'task', value: 3 },
      ]);
    }),
  );
});

/** Columns whose value is the event's as it is: a check of the product's own mapping. */
function plainColumns(task: Task | undefined): Partial<TaskRow> {
  if (task === undefined) throw new Error('no event has this title');
  const { project, sequence, workflow, status, description, progress, assignee, estimate_hours, blocked_reason } = task;
  const { attempt, created_at, created_by, updated_at, updated_by } = task;
  return {
    project,
    sequence,
    workflow,
    status,
    description,
    progress,
    assignee,
    estimate_hours,
    blocked_reason,
    attempt,
    created_at: Date.parse(created_at),
    created_by,
    updated_at: Date.parse(updated_at),
    updated_by,
    labels: JSON.stringify(task.labels),
    depends_on: JSON.stringify(task.depends_on),
    is_open: ['done', 'cancelled', 'DONE', 'CANCELLED'].includes(status) ? 0 : 1,
  };
}
