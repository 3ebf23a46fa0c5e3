import { describe, expect } from 'vitest';
import type { Database, Reader } from '../../src/db/database.ts';
import { readBoards } from '../../src/domains/tasks/board.ts';
import {
  listBlocked,
  listFreeTasks,
  listLapsedTasks,
  listOtherProjects,
  type Queue,
} from '../../src/domains/tasks/next-actions.ts';
import { WORKFLOWS, type Workflow } from '../../src/domains/tasks/workflows.ts';
import { formatTaskId } from '../../src/ids.ts';
import { UNMET, WAITS } from '../support/forge/unmet-links.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sizeOf } from '../support/properties.ts';
import { seededRandom } from '../support/random.ts';
import { afterTampering } from '../support/tamper.ts';
import { assertWhole, type TestServer, withServer } from '../support/test-server.ts';

const PROJECTS = ['default', 'other', 'third'];
const PRIORITIES = ['low', 'normal', 'high', 'critical'];
const OTHER_AGENT = 'someone else';
const READY_STATES = Object.values<Workflow>(WORKFLOWS)
  .flatMap(({ ready }) => ready)
  .map((status) => `'${status}'`)
  .join(', ');

/** The answers of the queue from every link, without what is stored about them. */
class Reference {
  readonly #db: Reader;

  constructor(db: Reader) {
    this.#db = db;
  }

  listFree({ project, limit, actor }: Queue, waits = WAITS): Promise<string[]> {
    return this.#list(
      `project = $1 AND status IN (${READY_STATES}) AND (holder IS NULL OR holder = $3) AND NOT ${waits}`,
      [project, limit, actor ?? null],
    );
  }

  /** Every claim has lapsed for another agent. */
  listLapsed({ project, limit }: Queue): Promise<string[]> {
    return this.#list(`project = $1 AND holder IS NOT NULL AND blocked_reason IS NULL AND NOT ${WAITS}`, [
      project,
      limit,
    ]);
  }

  listBlocked({ project, limit }: Queue): Promise<string[]> {
    return this.#list(
      `project = $1 AND (blocked_reason IS NOT NULL OR ((status IN (${READY_STATES}) OR holder IS NOT NULL) AND ${WAITS}))`,
      [project, limit],
    );
  }

  listColumn(project: string, status: string, limit: number): Promise<string[]> {
    return this.#list('project = $1 AND status = $3', [project, limit, status]);
  }

  async #list(condition: string, parameters: readonly (string | number | null)[]): Promise<string[]> {
    const rows = await this.#db.query<{ task_no: number }>(
      `SELECT task_no FROM tasks WHERE ${condition} ORDER BY priority DESC, task_no LIMIT $2`,
      parameters,
    );
    return rows.map(({ task_no }) => formatTaskId(task_no));
  }
}

interface Seen {
  /** How often the queue would have been another one if no task waited. */
  differences: number;
  lapsed: number;
  blocked: number;
}

const ids = (tasks: readonly { readonly task_id: string }[]) => tasks.map(({ task_id }) => task_id);

async function compareAnswers(database: Database, seen: Seen): Promise<void> {
  await database.read(async (db) => {
    const reference = new Reference(db);
    const context = { liveness: database, at: new Date().toISOString(), ttlMs: 0 };
    const withFree: string[] = [];
    for (const project of PROJECTS) {
      for (const limit of [2, 50])
        for (const actor of ['tester', OTHER_AGENT]) {
          const queue = { project, limit, actor };
          const free = await reference.listFree(queue);
          expect(ids(await listFreeTasks(db, queue))).toEqual(free);
          if (String(await reference.listFree(queue, '(1 = 0)')) !== String(free)) seen.differences += 1;
        }
      for (const limit of [2, 50]) {
        const queue = { project, limit, actor: OTHER_AGENT };
        const lapsed = await reference.listLapsed(queue);
        expect(ids(await listLapsedTasks(db, queue, context))).toEqual(lapsed);
        seen.lapsed += lapsed.length;
        const blocked = await reference.listBlocked(queue);
        expect(ids(await listBlocked(db, queue, context))).toEqual(blocked);
        seen.blocked += blocked.length;
        for (const { columns } of await readBoards(db, { project, limit }, context))
          for (const { status, cards } of columns.filter((column) => READY_STATES.includes(`'${column.status}'`)))
            expect(ids(cards)).toEqual(await reference.listColumn(project, status, limit));
      }
      if ((await reference.listFree({ project, limit: 1, actor: OTHER_AGENT })).length > 0) withFree.push(project);
    }
    expect(await listOtherProjects(db, { project: 'default', actor: OTHER_AGENT })).toEqual(
      withFree.filter((project) => project !== 'default'),
    );
    expect(await db.query('SELECT task_no, unmet FROM task_unmet ORDER BY task_no')).toEqual(
      await db.query(`SELECT task_no, unmet FROM (${UNMET}) AS plain ORDER BY task_no`),
    );
  });
}

type Random = () => number;
type Input = Record<string, unknown>;

const pick = <Item>(random: Random, items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
const seldom = (random: Random, input: Input): Input => (random() < 0.3 ? input : {});

/** Mostly the latest tasks, so that links gather there. */
function someTask(random: Random, count: number): string {
  return formatTaskId(Math.max(1, count - Math.floor(random() * Math.min(count, 9))));
}

function linksOf(random: Random, count: number): Input {
  const tasks = Array.from({ length: Math.floor(random() * 4) }, () => someTask(random, count));
  return {
    ...seldom(random, { depends_on: [...new Set(tasks)] }),
    ...seldom(random, { parent_id: random() < 0.3 ? null : someTask(random, count) }),
  };
}

/** One call, which may be refused. Returns the number of tasks after it. */
async function act(server: TestServer, random: Random, count: number): Promise<number> {
  if (count < 4 || random() < 0.2) {
    const { parent_id, ...links } = linksOf(random, Math.max(count, 1));
    const { data } = await server.call('task_create', {
      title: 'x',
      project: pick(random, PROJECTS),
      priority: pick(random, PRIORITIES),
      ...(random() < 0.3 ? { workflow: 'pipeline' } : { status: pick(random, ['todo', 'todo', 'backlog']) }),
      ...links,
      ...(typeof parent_id === 'string' && { parent_id }),
    });
    return data === undefined ? count : count + 1;
  }
  const task_id = someTask(random, count);
  const { status, workflow } = await server.getTask({ task_id });
  const onwards = (WORKFLOWS as Readonly<Record<string, Workflow>>)[workflow]?.transitions[status] ?? [];
  const step = { status: pick(random, onwards), ...(onwards.length > 0 && { blocked_reason: 'no key' }) };
  await server.call('task_update', {
    task_id,
    progress: 5,
    ...seldom(random, { priority: pick(random, PRIORITIES) }),
    ...(random() < 0.6 && onwards.length > 0 ? step : {}),
    ...linksOf(random, count),
  });
  return count;
}

describe('what is stored about unmet links', () => {
  promiseTest('tasks/waits', 'the queue answers as if it read every link, after any sequence of changes', async () => {
    for (let seed = 1; seed <= sizeOf({ test: 2, drivers: 1, torture: 20 }); seed += 1)
      await withServer(async (server) => {
        const random = seededRandom(seed);
        const seen = { differences: 0, lapsed: 0, blocked: 0 };
        let count = 0;
        for (let step = 0; step < 200; step += 1) {
          count = await act(server, random, count);
          await compareAnswers(server.database, seen);
        }
        // The controls: these sequences make tasks wait, end that, and lead to every list.
        expect(seen.differences).toBeGreaterThan(100);
        expect(seen.lapsed).toBeGreaterThan(100);
        expect(seen.blocked).toBeGreaterThan(100);
        const [closed] = await server.query<{ total: number }>(
          `SELECT COUNT(*) AS total FROM task_waits JOIN tasks ON tasks.task_no = awaited_no WHERE is_open = 0`,
        );
        expect(closed?.total).toBeGreaterThan(10);
        await assertWhole(server.database);
      });
  });

  promiseTest('tasks/waits', 'a parent that also depends on its child waits until both links are gone', () =>
    withServer(async (server) => {
      const unmet = () => server.query('SELECT task_no, unmet FROM task_unmet');
      const queue = async () => ids((await server.nextActions()).next_actions);
      await server.createTask({ title: 'parent', status: 'todo' });
      for (const end of ['close', 'leave and drop', 'drop and leave']) {
        const { task_id } = await server.createTask({ title: 'child', status: 'todo', parent_id: 'T-0001' });
        await server.updateTask({ task_id: 'T-0001', depends_on: [task_id] });
        expect(await unmet()).toEqual([{ task_no: 1, unmet: 2 }]);
        expect(await queue()).not.toContain('T-0001');
        const steps = {
          leave: () => server.updateTask({ task_id, parent_id: null }),
          drop: () => server.updateTask({ task_id: 'T-0001', depends_on: [] }),
        };
        if (end === 'close') await server.updateTask({ task_id, status: 'cancelled', parent_id: null });
        for (const step of end.split(' and '))
          if (step in steps) {
            expect(await queue()).not.toContain('T-0001');
            await steps[step as keyof typeof steps]();
          }
        expect(await unmet()).toEqual([]);
        expect(await queue()).toContain('T-0001');
      }
    }),
  );

  promiseTest('tasks/waits', 'a closed task has no row, whatever is linked to it later', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'awaited', status: 'todo' });
      await server.createTask({ title: 'given up', status: 'todo', depends_on: ['T-0001'] });
      await server.updateTask({ task_id: 'T-0002', status: 'cancelled' });
      await server.createTask({ title: 'a late child', status: 'todo', parent_id: 'T-0002' });
      await server.createTask({ title: 'another', status: 'todo' });
      await server.updateTask({ task_id: 'T-0004', parent_id: 'T-0002' });
      await server.updateTask({ task_id: 'T-0002', depends_on: ['T-0004'] });
      expect(await server.query('SELECT * FROM task_unmet')).toEqual([]);
      await server.updateTask({ task_id: 'T-0004', parent_id: null });
      await server.updateTask({ task_id: 'T-0001', status: 'cancelled' });
      expect(ids((await server.nextActions()).next_actions)).toEqual(['T-0003', 'T-0004']);
    }),
  );

  promiseTest(
    'tasks/tamper',
    'a task that was hidden from the queue, or offered too early, with all rows that say so',
    () =>
      withServer(async (server) => {
        await server.createTask({ title: 'free', status: 'todo' });
        await server.createTask({ title: 'waits', status: 'todo', depends_on: ['T-0001'] });
        const forgeries: Readonly<Record<string, readonly string[]>> = {
          'T-0001': [
            'UPDATE tasks SET is_ready = 2 WHERE task_no = 1',
            'INSERT INTO task_unmet (task_no, unmet) VALUES (1, 1)',
          ],
          'T-0002': ['UPDATE tasks SET is_ready = 1 WHERE task_no = 2', 'DELETE FROM task_unmet WHERE task_no = 2'],
        };
        for (const [task_id, statements] of Object.entries(forgeries))
          for (const forgery of [statements, ...statements.map((statement) => [statement])]) {
            const problems = await afterTampering(server.database, async (db) => {
              for (const statement of forgery) await db.query(statement);
            });
            expect(problems.map(({ place }) => place)).toContain(task_id);
          }
        // The control: as it is, nothing is reported.
        expect(await afterTampering(server.database, async () => undefined)).toEqual([]);
      }),
  );

  promiseTest('tasks/waits', 'the hint of an empty queue passes over projects whose tasks all wait', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'free', status: 'todo', project: 'zoo' });
      for (let number = 10; number < 25; number += 1)
        await server.createTask({ title: 'waits', status: 'todo', project: `p${number}`, depends_on: ['T-0001'] });
      expect((await server.nextActions()).hint).toContain('tasks are ready in zoo:');
    }),
  );

  promiseTest('tasks/waits', 'a task that waits is not offered when it becomes ready again', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'awaited', status: 'todo' });
      await server.createTask({ title: 'waits', depends_on: ['T-0001'] });
      const queue = async () => ids((await server.nextActions()).next_actions);
      await server.updateTask({ task_id: 'T-0002', status: 'todo' });
      expect(await queue()).toEqual(['T-0001']);
      await server.updateTask({ task_id: 'T-0002', status: 'blocked', blocked_reason: 'no key' });
      await server.updateTask({ task_id: 'T-0002', status: 'todo' });
      expect(await queue()).toEqual(['T-0001']);
      await server.updateTask({ task_id: 'T-0002', status: 'blocked', blocked_reason: 'no key' });
      await server.updateTask({ task_id: 'T-0001', status: 'cancelled' });
      await server.updateTask({ task_id: 'T-0002', status: 'todo' });
      expect(await queue()).toEqual(['T-0002']);
    }),
  );
});
