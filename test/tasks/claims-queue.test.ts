import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { claimed, HOUR, MINUTE, silence, TTL, withCrew } from '../support/crew/crew.ts';
import { removeClaims } from '../support/forge/without-claims.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer, type TestServer, withFolder } from '../support/test-server.ts';

describe('the queue', () => {
  promiseTest('claims/queue', 'a lapsed task comes after the free ones of the same priority', () =>
    withCrew(async ({ alice, bob, carol, silence: silenceOf }) => {
      const lapsed = await claimed(alice, { priority: 'high' });
      const blocked = await claimed(alice, { priority: 'critical' });
      await alice.updateTask({ task_id: blocked.task_id, status: 'blocked', blocked_reason: 'x' });
      const live = await claimed(carol, { priority: 'critical' });
      const low = await bob.createTask({ title: 'low', status: 'todo', priority: 'low' });
      const high = await bob.createTask({ title: 'high', status: 'todo', priority: 'high' });
      expect((await bob.nextActions()).next_actions.map(({ task_id }) => task_id)).toEqual([high.task_id, low.task_id]);
      await silenceOf('alice', 3 * HOUR);
      const { next_actions, count } = await bob.nextActions();
      expect(next_actions.map(({ task_id }) => task_id)).toEqual([high.task_id, lapsed.task_id, low.task_id]);
      expect(count).toBe(3);
      expect(next_actions[1]).toMatchObject({ lapsed: true, held_by: 'alice', dependencies_unmet: 0 });
      expect(next_actions[1]?.silent_for_s).toBeGreaterThanOrEqual(3 * 3600);
      expect(next_actions[0]).not.toHaveProperty('lapsed');
      expect((await bob.nextActions({ limit: 2 })).next_actions).toEqual(next_actions.slice(0, 2));
      await bob.updateTask({ task_id: lapsed.task_id, status: 'in_progress' });
      const after = (await bob.nextActions()).next_actions.map(({ task_id }) => task_id);
      expect(after).not.toContain(lapsed.task_id);
      expect(after).not.toContain(live.task_id);
    }, TTL),
  );

  promiseTest(
    'claims/queue',
    'a full page ends with a lapsed task of the same priority, so that it is not hidden',
    () =>
      withCrew(async ({ alice, bob, silence: silenceOf }) => {
        const first = await claimed(alice);
        await claimed(alice);
        const low = await claimed(alice, { priority: 'low' });
        const free: string[] = [];
        for (const title of ['one', 'two', 'three', 'four'])
          free.push((await bob.createTask({ title, status: 'todo' })).task_id);
        const offered = async (limit: number) =>
          (await bob.nextActions({ limit })).next_actions.map(({ task_id }) => task_id);
        expect(await offered(3)).toEqual(free.slice(0, 3));
        await silenceOf('alice', 3 * HOUR);
        expect(await offered(1)).toEqual(free.slice(0, 1));
        expect(await offered(2)).toEqual([free[0], first.task_id]);
        expect(await offered(4)).toEqual([...free.slice(0, 3), first.task_id]);
        expect(await offered(5)).toEqual([...free, first.task_id]);
        expect((await offered(7)).at(-1)).toBe(low.task_id);
        await bob.createTask({ title: 'urgent', status: 'todo', priority: 'high' });
        await bob.createTask({ title: 'urgent too', status: 'todo', priority: 'high' });
        // The page has no place for tasks of this priority at all.
        expect(await offered(2)).not.toContain(first.task_id);
      }, TTL),
  );

  promiseTest('claims/queue', 'a lapsed task that waits for another is not offered', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      const awaited = await bob.createTask({ title: 'first', status: 'todo' });
      const { task_id } = await claimed(alice, { depends_on: [awaited.task_id] });
      await silenceOf('alice', 3 * HOUR);
      expect((await bob.nextActions()).next_actions.map((action) => action.task_id)).toEqual([awaited.task_id]);
      await bob.updateTask({ task_id: awaited.task_id, status: 'cancelled' });
      expect((await bob.nextActions()).next_actions).toMatchObject([{ task_id, lapsed: true }]);
    }, TTL),
  );

  promiseTest(
    'claims/queue',
    'a lapsed task that waits for its child is listed as blocked, with its former holder',
    () =>
      withCrew(async ({ alice, bob, silence: silenceOf }) => {
        const parent = await claimed(alice, { priority: 'high' });
        const live = await claimed(bob);
        const pipeline = await claimed(alice, { workflow: 'pipeline', status: 'INIT' });
        for (const parent_id of [parent.task_id, live.task_id, pipeline.task_id])
          await bob.createTask({ title: 'a child', parent_id });
        const blocked = async () => (await bob.nextActions({ include_blocked: true })).blocked;
        expect((await blocked())?.map(({ task_id }) => task_id)).toEqual([pipeline.task_id]);
        await silenceOf('alice', 3 * HOUR);
        expect((await bob.nextActions()).next_actions).toEqual([]);
        const lapse = { lapsed: true, held_by: 'alice', silent_for_s: expect.any(Number), dependencies_unmet: 1 };
        expect(await blocked()).toMatchObject([
          { task_id: parent.task_id, blocked_reason: 'waits for T-0004', ...lapse },
          { task_id: pipeline.task_id, blocked_reason: 'waits for T-0006', ...lapse },
        ]);
        expect((await bob.nextActions({ include_blocked: true, limit: 1 })).blocked).toHaveLength(1);
      }, TTL),
  );

  promiseTest('claims/queue', 'a task that an earlier version started is offered once its assignee is silent', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      const old = await openServer(path, 'alice', { settings: TTL });
      const { task_id } = await claimed(old, { priority: 'high' });
      const orphan = await claimed(old);
      await old.updateTask({ task_id: orphan.task_id, assignee: 'unassigned' });
      const never = await claimed(old, { priority: 'low' });
      await old.updateTask({ task_id: never.task_id, assignee: 'zoe' });
      const ofPerson = await claimed(old);
      await old.updateTask({ task_id: ofPerson.task_id, assignee: 'person:ada' });
      await removeClaims(old.database);
      await old.close();
      const [alice, bob] = [
        await openServer(path, 'alice', { settings: TTL }),
        await openServer(path, 'bob', { settings: TTL }),
      ];
      const offers = async (server: TestServer) => (await server.nextActions()).next_actions;
      const unheld = [
        { task_id: orphan.task_id, lapsed: true },
        { task_id: never.task_id, lapsed: true, held_by: 'zoe' },
      ];
      await alice.call('task_list', {});
      const beforeSilence = await offers(bob);
      expect(beforeSilence).toMatchObject(unheld);
      expect(beforeSilence.map((offer) => Object.keys(offer).filter((name) => /held_by|silent/.test(name)))).toEqual([
        [],
        ['held_by'],
      ]);
      expect((await offers(alice))[0]).toMatchObject({ task_id, lapsed: true, held_by: 'alice' });
      await silence(bob.database, 'alice', 3 * HOUR);
      const [first] = await offers(bob);
      expect(first).toMatchObject({ task_id, lapsed: true, held_by: 'alice' });
      expect(first?.silent_for_s).toBeGreaterThanOrEqual(3 * 3600);
      expect(await bob.updateTask({ task_id, status: 'in_progress' })).toMatchObject({ holder: 'bob' });
      expect((await offers(bob)).map((offer) => offer.task_id)).toEqual([orphan.task_id, never.task_id]);
      await alice.close();
      await bob.close();
    }),
  );

  promiseTest('claims/queue', 'a pipeline task is offered to its holder, and to others once the claim has lapsed', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      const { task_id } = await claimed(alice, { workflow: 'pipeline', status: 'INIT' });
      expect((await bob.nextActions()).next_actions).toEqual([]);
      expect((await alice.nextActions()).next_actions).toMatchObject([{ task_id }]);
      await silenceOf('alice', 3 * HOUR);
      expect((await bob.nextActions()).next_actions).toMatchObject([{ task_id, lapsed: true, held_by: 'alice' }]);
      expect(await bob.updateTask({ task_id, status: 'GATHER' })).toMatchObject({ taken_from: 'alice', holder: 'bob' });
    }, TTL),
  );

  promiseTest('claims/queue', 'the task of an agent whose process died is offered after ten minutes', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      const bob = await openServer(path, 'bob', { settings: TTL });
      const alice = await openServer(path, 'alice', { settings: TTL });
      const { task_id } = await claimed(alice);
      await silence(bob.database, 'alice', 11 * MINUTE);
      expect((await bob.nextActions()).next_actions).toEqual([]);
      await alice.close();
      expect((await bob.nextActions()).next_actions).toMatchObject([{ task_id, held_by: 'alice' }]);
      await bob.close();
    }),
  );

  promiseTest(
    'claims/queue',
    'nothing lapses in the queue of another project or, with COLIBRI_CLAIM_TTL=off, of a live agent',
    async () => {
      await withCrew(async ({ alice, bob, silence: silenceOf }) => {
        await claimed(alice, { project: 'other' });
        await bob.createTask({ title: 'here' });
        await silenceOf('alice', 3 * HOUR);
        expect((await bob.nextActions()).next_actions).toEqual([]);
        expect((await bob.nextActions({ project: 'other' })).next_actions).toHaveLength(1);
      }, TTL);
      await withCrew(
        async ({ alice, bob, silence: silenceOf }) => {
          await claimed(alice);
          await silenceOf('alice', 9000 * HOUR);
          expect((await bob.nextActions()).next_actions).toEqual([]);
        },
        { COLIBRI_CLAIM_TTL: 'off' },
      );
    },
  );
});
