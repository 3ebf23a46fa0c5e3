import { describe, expect } from 'vitest';
import type { Agent, Arguments } from '../support/agent.ts';
import { withAgents } from '../support/crew/concurrent-agents.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

async function createTasks(agent: Pick<TestServer, 'createTask'>, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await agent.createTask({ title: `task ${ids.length}` })).task_id);
  return ids;
}

/** Closes the cycle, expects the refusal to list it in order, and expects that nothing was changed. */
async function expectCycle(
  server: TestServer,
  input: Arguments & { task_id: string },
  cycle: readonly string[],
): Promise<void> {
  const before = await server.getTask({ task_id: input.task_id });
  const events = await server.query(
    'SELECT idx FROM task_versions UNION ALL SELECT event_idx AS idx FROM tasks ORDER BY idx',
  );
  const links = await server.query('SELECT * FROM task_dependencies ORDER BY task_no, depends_on');
  const { pattern, code, message, facts } = await server.refusal('task_update', input);
  expect({ pattern, code, facts }).toEqual({
    pattern: 'B',
    code: 'ERR_CIRCULAR_DEPENDENCY',
    facts: { taskId: input.task_id, cycle },
  });
  expect(message).toContain(cycle.join(' → '));
  expect(await server.getTask({ task_id: input.task_id })).toEqual(before);
  expect(
    await server.query('SELECT idx FROM task_versions UNION ALL SELECT event_idx AS idx FROM tasks ORDER BY idx'),
  ).toEqual(events);
  expect(await server.query('SELECT * FROM task_dependencies ORDER BY task_no, depends_on')).toEqual(links);
}

describe('a cycle of dependencies', () => {
  for (const length of [1, 2, 3, 10, 60]) {
    promiseTest('tasks/cycles', `${length} tasks that depend on each other`, () =>
      withServer(async (server) => {
        const ids = await createTasks(server, length);
        for (let index = 1; index < length; index += 1) {
          await server.updateTask({ task_id: ids[index - 1], depends_on: [ids[index]] });
        }
        const task_id = ids.at(-1) as string;
        await expectCycle(server, { task_id, depends_on: [ids[0]] }, [task_id, ...ids]);
      }),
    );

    promiseTest('tasks/cycles', `${length} tasks that are each other's parents`, () =>
      withServer(async (server) => {
        const ids = await createTasks(server, length);
        for (let index = 1; index < length; index += 1) {
          await server.updateTask({ task_id: ids[index], parent_id: ids[index - 1] });
        }
        // A parent waits for its child, so the cycle is listed from the topmost task down.
        const task_id = ids[0] as string;
        await expectCycle(server, { task_id, parent_id: ids.at(-1) }, [...ids, task_id]);
      }),
    );
  }

  promiseTest('tasks/cycles', 'a child that depends on its parent', () =>
    withServer(async (server) => {
      const [parent, child] = (await createTasks(server, 2)) as [string, string];
      await server.updateTask({ task_id: child, parent_id: parent });
      await expectCycle(server, { task_id: child, depends_on: [parent] }, [child, parent, child]);
      const born = await server.refusal('task_create', { title: 'x', parent_id: parent, depends_on: [parent] });
      expect(born).toMatchObject({ code: 'ERR_CIRCULAR_DEPENDENCY', facts: { cycle: ['T-0003', parent, 'T-0003'] } });
      expect((await server.createTask({ title: 'the refused one left no gap' })).task_id).toBe('T-0003');
    }),
  );

  promiseTest('tasks/cycles', 'a cycle through parents and dependencies is reported by its shortest path', () =>
    withServer(async (server) => {
      const [a, b, c, d, e] = (await createTasks(server, 5)) as [string, string, string, string, string];
      await server.updateTask({ task_id: b, parent_id: a });
      await server.updateTask({ task_id: b, depends_on: [c, d] });
      await server.updateTask({ task_id: d, parent_id: c });
      await server.updateTask({ task_id: d, depends_on: [e] });
      await expectCycle(server, { task_id: e, depends_on: [a] }, [e, a, b, d, e]);
      await expectCycle(server, { task_id: a, parent_id: e }, [a, b, d, e, a]);
      await expectCycle(server, { task_id: e, depends_on: [b, a] }, [e, b, d, e]);
    }),
  );

  promiseTest('tasks/cycles', 'many paths to one task are not a cycle', () =>
    withServer(async (server) => {
      const [top, left, right, bottom] = (await createTasks(server, 4)) as [string, string, string, string];
      await server.updateTask({ task_id: top, depends_on: [left, right, bottom] });
      await server.updateTask({ task_id: left, depends_on: [bottom] });
      await server.updateTask({ task_id: right, depends_on: [bottom, left, bottom] });
      expect((await server.getTask({ task_id: right })).depends_on).toEqual([bottom, left]);
      await server.updateTask({ task_id: top, depends_on: [] });
      await server.updateTask({ task_id: bottom, depends_on: [top] });
    }),
  );

  promiseTest('tasks/cycles', 'of two processes that close a cycle at the same time exactly one is refused', () =>
    withAgents(['left', 'right'], async ([left, right]) => {
      const [one, other] = [left, right] as [Agent, Agent];
      for (let round = 0; round < 12; round += 1) {
        const [a, b] = (await createTasks(one, 2)) as [string, string];
        const replies = await Promise.all([
          one.call('task_update', round % 2 === 0 ? { task_id: a, depends_on: [b] } : { task_id: a, parent_id: b }),
          other.call('task_update', round % 2 === 0 ? { task_id: b, depends_on: [a] } : { task_id: b, parent_id: a }),
        ]);
        const refused = replies.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
        expect(refused.map(({ code }) => code)).toEqual(['ERR_CIRCULAR_DEPENDENCY']);
        expect(refused[0]?.facts['cycle']).toHaveLength(3);
      }
    }),
  );
});

/** Links that no tool made: many are quick to add, and they are removed before the ledger is verified. */
async function withChains(
  server: TestServer,
  ends: readonly [number, number][],
  work: () => Promise<void>,
): Promise<void> {
  const change = (sql: string, parameters: readonly number[]) =>
    server.database.write({ durable: false }, (db) => db.query(sql, parameters));
  for (const [waiting, awaited] of ends)
    await change(
      `WITH RECURSIVE n (no) AS (SELECT 0 UNION ALL SELECT no + 1 FROM n WHERE no < 11000)
       INSERT INTO task_dependencies (task_no, depends_on)
       SELECT CASE no WHEN 0 THEN CAST($1 AS BIGINT) ELSE CAST($1 AS BIGINT) * 100000 + no END,
              CASE no WHEN 11000 THEN CAST($2 AS BIGINT) ELSE CAST($1 AS BIGINT) * 100000 + no + 1 END FROM n`,
      [waiting, awaited],
    );
  await work();
  await change('DELETE FROM task_dependencies WHERE task_no >= $1 OR depends_on >= $1', [100_000]);
}

describe('a cycle that a limited search cannot rule out', () => {
  promiseTest('tasks/bounded-search', 'a change beyond the search limit is refused with advice that works', () =>
    withServer(async (server) => {
      const [first, middle, last, other] = (await createTasks(server, 4)) as [string, string, string, string];
      await withChains(
        server,
        [
          [3, 2],
          [1, 4],
        ],
        async () => {
          const before = await server.query('SELECT * FROM tasks ORDER BY task_no');
          const events = await server.query(
            'SELECT idx FROM task_versions UNION ALL SELECT event_idx AS idx FROM tasks ORDER BY idx',
          );
          for (const [tool, input] of [
            ['task_update', { task_id: middle, depends_on: [first] }],
            ['task_update', { task_id: first, parent_id: middle }],
            ['task_create', { title: 'x', parent_id: middle, depends_on: [first] }],
          ] as const) {
            const { pattern, code, message, facts } = await server.refusal(tool, input);
            expect({ pattern, code }).toEqual({ pattern: 'B', code: 'ERR_CIRCULAR_DEPENDENCY' });
            expect(facts).toMatchObject({ maxLinks: 10_000 });
            expect(message).toContain('nothing was changed');
          }
          expect(await server.query('SELECT * FROM tasks ORDER BY task_no')).toEqual(before);
          expect(
            await server.query(
              'SELECT idx FROM task_versions UNION ALL SELECT event_idx AS idx FROM tasks ORDER BY idx',
            ),
          ).toEqual(events);
          // Where one direction is short, or nothing can wait for the task yet, any graph may lie behind it.
          await server.updateTask({ task_id: last, depends_on: [first] });
          await server.updateTask({ task_id: last, depends_on: [] });
          await server.createTask({ title: 'depends on both', depends_on: [first, middle] });
          await server.createTask({ title: 'a child', parent_id: middle });
          await server.updateTask({ task_id: other, title: 'changed without new links' });
        },
      );
    }),
  );
});
