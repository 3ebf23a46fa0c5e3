import { describe, expect } from 'vitest';
import { readObservedWork } from '../../src/domains/evidence/observed-work.ts';
import { edited } from '../evidence/observed-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { by, createTasks, listEvents, requireRun, stopped, withCrew } from './recorded-crew.ts';

describe('the task of a sub-agent or of its session, after it was given up or left', () => {
  promiseTest('recorder/sub-agents', 'one that ends leaves its task to a session that holds none', () =>
    withCrew(async ({ server, report, update, run }) => {
      await createTasks(server, 3);
      const claims = () =>
        server.query(
          'SELECT session, task_no, claim_idx IS NOT NULL AS is_claim FROM observed_sessions ORDER BY session',
        );
      await update('T-0001', 'in_progress', 'a');
      await update('T-0002', 'in_progress', 'b');
      await report(stopped('c'));
      await report(stopped('a'));
      expect(await claims()).toMatchObject([
        { session: 's-1', task_no: 1 },
        { session: 's-1\na', task_no: null },
        { session: 's-1\nb', task_no: 2 },
      ]);
      await run('ls');
      await report(stopped('b'));
      // A client can continue a sub-agent.
      for (const agent of ['a', 'b', undefined]) await run('ls', agent);
      await update('T-0003', 'in_progress', 'a');
      await run('ls', 'a');
      expect(await listEvents(server)).toEqual([
        'a T-0001 - T-0001',
        'b T-0002 - T-0002',
        'c - -',
        'a T-0001 T-0001 none',
        'main T-0001 T-0001',
        'b T-0002 T-0001 none',
        'a T-0001 T-0001',
        'b T-0001 T-0001',
        'main T-0001 T-0001',
        'a T-0003 T-0001 T-0003',
        'a T-0003 T-0001 T-0003',
      ]);
      const rows = await server.query<{ claim_idx: number | null }>(
        `SELECT observed_sessions.claim_idx FROM observed_sessions
         JOIN tasks ON tasks.task_no = observed_sessions.task_no AND tasks.claim_idx = observed_sessions.claim_idx`,
      );
      expect(rows).toHaveLength(2);
    }),
  );

  promiseTest('recorder/sub-agents', 'one that ends leaves no task that it has lost', () =>
    withCrew(async ({ server, report, update, run }) => {
      await createTasks(server, 3);
      await update('T-0001', 'in_progress', 'a');
      // The main agent brings it to review.
      await update('T-0001', 'review');
      await report(stopped('a'));
      await update('T-0002', 'in_progress', 'b');
      // Another session claims it anew.
      for (const status of ['blocked', 'todo', 'in_progress'])
        await server.call('task_update', { task_id: 'T-0002', status, blocked_reason: 'later' });
      await report(stopped('b'));
      // Nothing tells the token of this claim.
      const answer = JSON.stringify({ ok: true, data: { task_id: 'T-0003', status: 'in_progress' } });
      await report({ ...by('c'), tool_name: 'mcp__colibri__task_update', tool_response: answer });
      await report(stopped('c'));
      await server.call('task_update', { task_id: 'T-0003', status: 'in_progress' });
      await report({ ...by('d'), tool_name: 'mcp__colibri__task_update', tool_response: answer });
      await report(stopped('d'));
      await run('ls');
      expect(await listEvents(server)).toEqual([
        'a T-0001 - T-0001',
        'main - -',
        'a T-0001 - none',
        'b T-0002 - T-0002',
        'b T-0002 - none',
        'c T-0003 - T-0003',
        'c T-0003 - none',
        'd T-0003 - T-0003',
        'd T-0003 T-0003 none',
        'main T-0003 T-0003',
      ]);
    }),
  );

  promiseTest('recorder/sub-agents', 'one with a claim of its own gives up the task of its session', () =>
    withCrew(async ({ server, report, update, run }) => {
      const isDone = await requireRun(server);
      await update('T-0001', 'in_progress');
      await update('T-0002', 'in_progress', 'a');
      await report(edited('main.ts'));
      await update('T-0001', 'review', 'a');
      await run('npm test', 'a');
      expect(await isDone('T-0001')).toBe(false);
      await run('npm test');
      expect(await isDone('T-0001')).toBe(true);
      await update('T-0003', 'in_progress');
      // A refused call changes nothing.
      await update('T-0003', 'done', 'a');
      await update('T-0002', 'review', 'a');
      await report(edited('main.ts'));
      await update('T-0003', 'review', 'a');
      await run('npm test', 'a');
      expect(await isDone('T-0003')).toBe(true);
      expect(await isDone('T-0002')).toBe(true);
      expect(await listEvents(server)).toEqual([
        'main T-0001 T-0001',
        'a T-0002 T-0001 T-0002',
        'main T-0001 T-0001',
        'a T-0001 -',
        'a T-0002 - T-0002',
        'main - -',
        'main T-0003 T-0003',
        'a T-0002 T-0003 T-0002',
        'a T-0002 T-0003 none',
        'main T-0003 T-0003',
        'a T-0003 - none',
        'a - - none',
      ]);
    }),
  );

  promiseTest('recorder/sub-agents', 'one gives up a task that it and its session hold', () =>
    withCrew(async ({ server, update, run }) => {
      await createTasks(server, 2);
      await update('T-0001', 'in_progress');
      await update('T-0002', 'in_progress', 'a');
      await update('T-0001', { progress: 50 }, 'a');
      await update('T-0001', 'review', 'a');
      for (const agent of ['a', undefined]) await run('ls', agent);
      expect((await listEvents(server)).slice(2)).toEqual([
        'a T-0002 T-0001 T-0001',
        'a T-0001 - none',
        'a - - none',
        'main - -',
      ]);
    }),
  );

  promiseTest('recorder/sub-agents', 'what both did after the task was given up is read once', () =>
    withCrew(async ({ server, report, update, run }) => {
      await createTasks(server, 2);
      await update('T-0001', 'in_progress', 'a');
      await update('T-0001', 'review', 'a');
      await run('main 1');
      await run('sub 1', 'a');
      await update('T-0002', 'in_progress');
      for (const agent of ['a', undefined]) await run(`${agent ?? 'main'} 2`, agent);
      await report({ ...edited('a.ts'), ...by('a') });
      const read = async (maxLater: number) => {
        const { runs, edits } = await server.database.read((db) => readObservedWork(db, 1, 100, maxLater));
        return [...runs.map(({ command }) => command), edits.length];
      };
      const all = ['main 1', 'sub 1', 'a 2', 1];
      for (const maxLater of [5, 6, 7, 5000]) expect([maxLater, await read(maxLater)]).toEqual([maxLater, all]);
      // What is beyond the limit may be an edit.
      for (const maxLater of [0, 1, 4]) expect([maxLater, (await read(maxLater)).at(-1)]).toEqual([maxLater, 1]);
    }),
  );
});
