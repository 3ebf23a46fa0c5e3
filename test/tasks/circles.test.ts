import { describe, expect } from 'vitest';
import { keeps } from '../support/keeps.ts';
import type { Agent, Arguments } from '../support/task-agent.ts';
import { atDesk, type Desk } from '../support/task-desk.ts';
import { withAgents } from '../support/task-processes.ts';

async function createTasks(agent: Pick<Desk, 'create'>, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push((await agent.create({ title: `task ${ids.length}` })).task_id);
  return ids;
}

/** Closes the circle, expects the refusal to name it in order, and expects that nothing was changed. */
async function expectCircle(
  desk: Desk,
  input: Arguments & { task_id: string },
  cycle: readonly string[],
): Promise<void> {
  const before = await desk.get({ task_id: input.task_id });
  const events = await desk.query('SELECT idx FROM task_events');
  const links = await desk.query('SELECT * FROM task_dependencies ORDER BY task_no, depends_on');
  const { pattern, code, message, facts } = await desk.refusal('task_update', input);
  expect({ pattern, code, facts }).toEqual({
    pattern: 'B',
    code: 'ERR_CIRCULAR_DEPENDENCY',
    facts: { taskId: input.task_id, cycle },
  });
  expect(message).toContain(cycle.join(' → '));
  expect(await desk.get({ task_id: input.task_id })).toEqual(before);
  expect(await desk.query('SELECT idx FROM task_events')).toEqual(events);
  expect(await desk.query('SELECT * FROM task_dependencies ORDER BY task_no, depends_on')).toEqual(links);
}

describe('a circle of dependencies', () => {
  for (const length of [1, 2, 3, 10, 60]) {
    keeps('tasks/circles', `${length} tasks that depend on one another`, () =>
      atDesk(async (desk) => {
        const ids = await createTasks(desk, length);
        for (let index = 1; index < length; index += 1) {
          await desk.update({ task_id: ids[index - 1], depends_on: [ids[index]] });
        }
        const task_id = ids.at(-1) as string;
        await expectCircle(desk, { task_id, depends_on: [ids[0]] }, [task_id, ...ids]);
      }),
    );

    keeps('tasks/circles', `${length} tasks that are one another's parents`, () =>
      atDesk(async (desk) => {
        const ids = await createTasks(desk, length);
        for (let index = 1; index < length; index += 1) {
          await desk.update({ task_id: ids[index], parent_id: ids[index - 1] });
        }
        // A parent waits for its child, so the circle is told from the topmost down.
        const task_id = ids[0] as string;
        await expectCircle(desk, { task_id, parent_id: ids.at(-1) }, [...ids, task_id]);
      }),
    );
  }

  keeps('tasks/circles', 'a child that depends on its parent', () =>
    atDesk(async (desk) => {
      const [parent, child] = (await createTasks(desk, 2)) as [string, string];
      await desk.update({ task_id: child, parent_id: parent });
      await expectCircle(desk, { task_id: child, depends_on: [parent] }, [child, parent, child]);
      const born = await desk.refusal('task_create', { title: 'x', parent_id: parent, depends_on: [parent] });
      expect(born).toMatchObject({ code: 'ERR_CIRCULAR_DEPENDENCY', facts: { cycle: ['T-0003', parent, 'T-0003'] } });
      expect((await desk.create({ title: 'the refused one left no gap' })).task_id).toBe('T-0003');
    }),
  );

  keeps('tasks/circles', 'through parents and dependencies by turns, and the shortest one is named', () =>
    atDesk(async (desk) => {
      const [a, b, c, d, e] = (await createTasks(desk, 5)) as [string, string, string, string, string];
      await desk.update({ task_id: b, parent_id: a });
      await desk.update({ task_id: b, depends_on: [c, d] });
      await desk.update({ task_id: d, parent_id: c });
      await desk.update({ task_id: d, depends_on: [e] });
      await expectCircle(desk, { task_id: e, depends_on: [a] }, [e, a, b, d, e]);
      await expectCircle(desk, { task_id: a, parent_id: e }, [a, b, d, e, a]);
      await expectCircle(desk, { task_id: e, depends_on: [b, a] }, [e, b, d, e]);
    }),
  );

  keeps('tasks/circles', 'many ways to one task are no circle', () =>
    atDesk(async (desk) => {
      const [top, left, right, bottom] = (await createTasks(desk, 4)) as [string, string, string, string];
      await desk.update({ task_id: top, depends_on: [left, right, bottom] });
      await desk.update({ task_id: left, depends_on: [bottom] });
      await desk.update({ task_id: right, depends_on: [bottom, left, bottom] });
      expect((await desk.get({ task_id: right })).depends_on).toEqual([bottom, left]);
      await desk.update({ task_id: top, depends_on: [] });
      await desk.update({ task_id: bottom, depends_on: [top] });
    }),
  );

  keeps('tasks/circles', 'closed by two processes at the same moment: exactly one is refused', () =>
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
