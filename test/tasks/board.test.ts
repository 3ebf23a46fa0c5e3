import { describe, expect } from 'vitest';
import { type Board, type BoardQuery, readBoards } from '../../src/domains/tasks/board.ts';
import { withCrew } from '../support/crew/crew.ts';
import { promiseTest } from '../support/promise-test.ts';
import { serverForAll, type TestServer } from '../support/test-server.ts';

const HOUR = 3_600_000;

async function boardOf({ database }: TestServer, query: Partial<BoardQuery> = {}, ttlMs = 2 * HOUR): Promise<Board[]> {
  const context = { liveness: database, at: new Date().toISOString(), ttlMs };
  return database.read((reader) => readBoards(reader, { project: 'default', limit: 8, ...query }, context));
}

const columnsOf = (boards: readonly Board[]) => boards.flatMap(({ columns }) => columns);
const idsOf = (boards: readonly Board[]) =>
  columnsOf(boards).flatMap(({ cards }) => cards.map(({ task_id }) => task_id));

describe('a filtered board', () => {
  const server = serverForAll(async (agent) => {
    await agent.createTask({ title: 'Rotate the signing keys', status: 'todo', labels: ['security', 'urgent'] });
    await agent.createTask({ title: 'Write the guide', description: 'for signing', labels: ['docs'] });
    await agent.createTask({ title: 'Sign the release', status: 'todo', assignee: 'codex', labels: ['security'] });
    await agent.createTask({ title: 'Elsewhere', project: 'web', status: 'todo', labels: ['security'] });
    await agent.createTask({ title: 'In stages', workflow: 'pipeline' });
    await agent.createTask({ title: 'Soon', status: 'todo', priority: 'high' });
    await agent.updateTask({ task_id: 'T-0001', status: 'in_progress' });
  });

  const cases: readonly (readonly [query: Partial<BoardQuery>, ids: readonly string[]])[] = [
    [{}, ['T-0002', 'T-0006', 'T-0003', 'T-0001', 'T-0005']],
    [{ project: 'web' }, ['T-0004']],
    [{ project: 'nowhere' }, []],
    [{ assignee: 'tester' }, ['T-0001']],
    [{ assignee: 'unassigned' }, ['T-0002', 'T-0006', 'T-0005']],
    [{ assignee: 'Codex' }, []],
    [{ label: 'security' }, ['T-0003', 'T-0001']],
    [{ label: 'security', status: ['todo'] }, ['T-0003']],
    [{ label: "' OR 1=1 --" }, []],
    [{ search: 'sign' }, ['T-0002', 'T-0003', 'T-0001']],
    [{ search: 'signing keys' }, ['T-0001']],
    [{ search: 'sign', assignee: 'codex', label: 'security' }, ['T-0003']],
    [{ search: '"*) OR NOT' }, []],
    [{ search: '%' }, []],
    [{ status: ['todo', 'INIT'] }, ['T-0006', 'T-0003', 'T-0005']],
    [{ status: ['done'] }, []],
  ];

  for (const [query, ids] of cases)
    promiseTest('cli/board-filters', `shows and counts what matches ${JSON.stringify(query)}`, async () => {
      const boards = await boardOf(server(), query);
      expect(idsOf(boards)).toEqual(ids);
      expect(columnsOf(boards).reduce((sum, { count }) => sum + count, 0)).toBe(ids.length);
    });

  promiseTest('cli/board-filters', 'has columns for the requested status only', async () => {
    const statuses = async (...status: NonNullable<BoardQuery['status']>) =>
      columnsOf(await boardOf(server(), { status })).map((column) => column.status);
    expect(await statuses('review', 'todo')).toEqual(['todo', 'review']);
    expect(await statuses('APPLY')).toEqual([]);
  });

  promiseTest('cli/board-filters', 'counts what the limit leaves out', async () => {
    const [todo] = columnsOf(await boardOf(server(), { limit: 1, status: ['todo'] }));
    expect([todo?.count, todo?.cards.map(({ task_id }) => task_id)]).toEqual([2, ['T-0006']]);
  });
});

describe('the cards of a board', () => {
  promiseTest('cli/board-claims', 'name the holder, its silence, and whether the claim has lapsed', () =>
    withCrew(async ({ alice, bob, silence }) => {
      await alice.createTask({ title: 'held', status: 'todo' });
      await alice.createTask({ title: 'free', status: 'todo' });
      await alice.createTask({ title: 'blocked', status: 'todo' });
      for (const task_id of ['T-0001', 'T-0003']) await alice.updateTask({ task_id, status: 'in_progress' });
      await alice.updateTask({ task_id: 'T-0003', status: 'blocked', blocked_reason: 'x' });
      const cardsOf = async (ttlMs?: number) =>
        columnsOf(await boardOf(bob, {}, ttlMs))
          .flatMap(({ cards }) => cards)
          .toSorted((one, other) => one.task_id.localeCompare(other.task_id));
      const [held, free] = await cardsOf();
      expect(held).toMatchObject({ holder: 'alice', lapsed: false, silent_for_s: expect.any(Number) as number });
      for (const field of ['holder', 'lapsed', 'silent_for_s']) expect(free).not.toHaveProperty(field);
      await silence('alice', 3 * HOUR);
      const [lapsed, , blocked] = await cardsOf();
      expect(lapsed).toMatchObject({ holder: 'alice', lapsed: true });
      expect(lapsed?.silent_for_s).toBeGreaterThanOrEqual(3 * 3600);
      expect(blocked).toMatchObject({ holder: 'alice', lapsed: false });
      expect((await cardsOf(4 * HOUR))[0]).toMatchObject({ lapsed: false });
    }),
  );
});
