import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Crew, claimed, HOUR, MINUTE, silence, TTL, withCrew } from '../support/crew/crew.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, withFolder } from '../support/test-server.ts';

describe('a live claim', () => {
  const CHANGES = [
    { status: 'review' },
    { status: 'blocked', blocked_reason: 'mine now' },
    { status: 'cancelled' },
    { status: 'in_progress' },
    { status: 'todo' },
    { progress: 50 },
    { progress: 0 },
    { assignee: 'bob' },
    { assignee: null },
    { blocked_reason: 'a reason' },
    { title: 'and', progress: 1 },
  ];
  promiseTest('claims/held', 'every guarded change of another agent is refused and changes nothing', () =>
    withCrew(async ({ alice, bob }) => {
      const { task_id, claim } = await claimed(alice);
      const before = await alice.getTask({ task_id });
      expect(before).toMatchObject({ holder: 'alice', claim, assignee: 'alice' });
      for (const change of CHANGES) {
        const { code, facts, pattern } = await bob.refusal('task_update', { task_id, ...change });
        expect([change, code, pattern]).toEqual([change, 'ERR_CLAIM_HELD', 'B']);
        expect(facts).toMatchObject({ taskId: task_id, holder: 'alice', since: before.updated_at });
        expect(facts).not.toHaveProperty('claim');
        expect(Date.parse(String(facts['lapses_at'])) - Date.parse(String(facts['last_sign_of_life']))).toBe(2 * HOUR);
      }
      expect(await alice.getTask({ task_id })).toEqual(before);
    }),
  );

  promiseTest('claims/held', 'everything else on the task stays open to everyone', () =>
    withCrew(async ({ alice, bob }) => {
      const { task_id } = await claimed(alice);
      const other = await bob.createTask({ title: 'another' });
      const changes = { title: 'better', description: 'more', labels: ['x'], priority: 'high', estimate_hours: 2 };
      await bob.updateTask({ task_id, ...changes, depends_on: [other.task_id] });
      expect(await bob.getTask({ task_id })).toMatchObject({ ...changes, holder: 'alice', status: 'in_progress' });
    }),
  );

  promiseTest('claims/held', 'the finished task of another agent cannot be finished by a third', () =>
    withCrew(async ({ alice, bob, carol }) => {
      const { task_id } = await claimed(alice);
      expect((await bob.refusal('task_update', { task_id, status: 'review' })).code).toBe('ERR_CLAIM_HELD');
      await alice.updateTask({ task_id, status: 'review' });
      expect(await bob.getTask({ task_id })).not.toHaveProperty('holder');
      expect(await bob.getTask({ task_id })).not.toHaveProperty('claim');
      await carol.startSession({ task_id, auditor_id: 'carol' });
      await carol.recordThought({ task_id, type: 'decision', content: 'reviewed' });
      await carol.updateTask({ task_id, status: 'done' });
    }),
  );

  promiseTest('claims/held', 'a claim ends with every status that is not work', () =>
    withCrew(async ({ alice, bob }) => {
      for (const steps of [['review', 'backlog', 'todo'], ['blocked', 'todo'], ['cancelled']]) {
        const { task_id } = await claimed(alice);
        for (const status of steps) {
          const agent = status === 'backlog' ? bob : alice;
          await agent.updateTask({ task_id, status, ...(status === 'blocked' ? { blocked_reason: 'x' } : {}) });
        }
        expect(await bob.getTask({ task_id })).not.toHaveProperty('holder');
      }
    }),
  );

  promiseTest('claims/held', 'the holder of a pipeline task keeps it until VERIFY', () =>
    withCrew(async ({ alice, bob }) => {
      const { task_id } = await claimed(alice, { workflow: 'pipeline', status: 'INIT' });
      for (const status of ['ANALYZE', 'PLAN', 'APPLY']) {
        expect((await bob.refusal('task_update', { task_id, status })).code).toBe('ERR_CLAIM_HELD');
        expect(await alice.updateTask({ task_id, status })).toMatchObject({ holder: 'alice' });
      }
      expect(await alice.updateTask({ task_id, status: 'VERIFY' })).not.toHaveProperty('holder');
      await bob.updateTask({ task_id, status: 'GATHER' });
      expect(await bob.getTask({ task_id })).not.toHaveProperty('holder');
      expect(await bob.updateTask({ task_id, status: 'GATHER' })).toMatchObject({ holder: 'bob', assignee: 'bob' });
    }),
  );
});

describe('a silent holder', () => {
  promiseTest('claims/lapse', 'a claim lapses when its holder was silent for the configured time, not before', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      const { task_id, claim } = await claimed(alice);
      await silenceOf('alice', 2 * HOUR - 5 * MINUTE);
      const refused = await bob.refusal('task_update', { task_id, status: 'in_progress' });
      expect(refused.code).toBe('ERR_CLAIM_HELD');
      await silenceOf('alice', 5 * MINUTE);
      const taken = await bob.updateTask({ task_id, status: 'in_progress' });
      expect(taken).toMatchObject({ holder: 'bob', taken_from: 'alice', assignee: 'bob', status: 'in_progress' });
      expect(taken.claim).toBeGreaterThan(claim);
      expect(await alice.getTask({ task_id })).toMatchObject({
        holder: 'bob',
        taken_from: 'alice',
        claim: taken.claim,
      });
    }, TTL),
  );

  promiseTest('claims/lapse', 'the former holder learns by whom, when and with which token it lost the claim', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      const { task_id, claim } = await claimed(alice);
      await silenceOf('alice', 2 * HOUR);
      const taken = await bob.updateTask({ task_id, status: 'in_progress' });
      const before = await bob.getTask({ task_id });
      const lost = { taskId: task_id, taken_by: 'bob', taken_at: taken.updated_at, claim: taken.claim, holder: 'bob' };
      for (const change of [{ status: 'review' }, { progress: 90 }, { status: 'in_progress' }, { title: 'x', claim }]) {
        const { code, facts } = await alice.refusal('task_update', { task_id, ...change });
        expect([code, facts]).toEqual(['ERR_CLAIM_LOST', lost]);
      }
      expect(await bob.getTask({ task_id })).toEqual(before);
      await bob.updateTask({ task_id, status: 'review' });
      const { code, facts } = await alice.refusal('task_update', { task_id, status: 'blocked', blocked_reason: 'x' });
      expect([code, facts['taken_by'], facts['holder']]).toEqual(['ERR_CLAIM_LOST', 'bob', null]);
      const returned = { task_id, status: 'backlog', claim: facts['claim'] as number };
      expect(await alice.updateTask(returned)).toMatchObject({ status: 'backlog' });
      await bob.updateTask({ task_id, status: 'todo' });
      expect(await alice.updateTask({ task_id, status: 'in_progress' })).toMatchObject({ holder: 'alice' });
      expect(await alice.getTask({ task_id })).not.toHaveProperty('taken_from');
    }, TTL),
  );

  promiseTest('claims/renewed', 'any call of the holder renews the claim until another agent takes the task', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      const { task_id, claim } = await claimed(alice);
      await silenceOf('alice', 50 * HOUR);
      await alice.getTask({ task_id: 'T-9999' }).catch(() => undefined);
      const { code, facts } = await bob.refusal('task_update', { task_id, status: 'in_progress' });
      expect([code, facts['holder']]).toEqual(['ERR_CLAIM_HELD', 'alice']);
      expect(await alice.updateTask({ task_id, progress: 10, claim })).toMatchObject({ holder: 'alice', claim });
    }, TTL),
  );

  promiseTest(
    'claims/never',
    'a person, a blocked task and, with COLIBRI_CLAIM_TTL=off, a live agent do not lose a claim',
    async () => {
      const refusedForever = async ({ alice, bob, silence: silenceOf }: Crew, status: string) => {
        const { task_id } = await claimed(alice);
        if (status === 'blocked') await alice.updateTask({ task_id, status, blocked_reason: 'waits' });
        await silenceOf('alice', 9000 * HOUR);
        const { code, facts } = await bob.refusal('task_update', { task_id, status: 'in_progress' });
        expect([code, facts['lapses_at']]).toEqual(['ERR_CLAIM_HELD', null]);
      };
      await withCrew((crew) => refusedForever(crew, 'blocked'), TTL);
      await withCrew((crew) => refusedForever(crew, 'in_progress'), { COLIBRI_CLAIM_TTL: 'off' });
      await withFolder(async (folder) => {
        const path = join(folder, 'colibri.db');
        const ada = await openServer(path, 'ada', { settings: TTL, person: 'ada' });
        const bob = await openServer(path, 'bob', { settings: TTL });
        const { task_id } = await claimed(ada);
        await silence(bob.database, 'person:ada', 9000 * HOUR);
        const { code, facts } = await bob.refusal('task_update', { task_id, status: 'in_progress' });
        expect([code, facts['lapses_at']]).toEqual(['ERR_CLAIM_HELD', null]);
        await ada.close();
        await bob.close();
      });
    },
  );

  for (const settings of [TTL, { COLIBRI_CLAIM_TTL: 'off' }])
    promiseTest(
      'claims/dead-process',
      `ten minutes are enough once no process of the holder is alive, with a TTL of ${settings.COLIBRI_CLAIM_TTL}`,
      () =>
        withFolder(async (folder) => {
          const path = join(folder, 'colibri.db');
          const bob = await openServer(path, 'bob', { settings });
          const alice = await openServer(path, 'alice', { settings });
          const { task_id } = await claimed(alice);
          await silence(bob.database, 'alice', 30 * MINUTE);
          expect((await bob.refusal('task_update', { task_id, status: 'in_progress' })).code).toBe('ERR_CLAIM_HELD');
          expect((await bob.nextActions()).next_actions).toEqual([]);
          await alice.close();
          expect((await bob.nextActions()).next_actions).toMatchObject([{ task_id, lapsed: true, held_by: 'alice' }]);
          expect(await bob.updateTask({ task_id, status: 'in_progress' })).toMatchObject({ taken_from: 'alice' });
          await assertWhole(bob.database);
          await bob.close();
        }),
    );

  promiseTest('claims/restart', 'an agent whose client restarts its server keeps its claim', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      const bob = await openServer(path, 'bob', { settings: TTL });
      const first = await openServer(path, 'alice', { settings: TTL });
      const { task_id, claim } = await claimed(first);
      await first.close();
      await silence(bob.database, 'alice', 9 * MINUTE);
      const { code, facts } = await bob.refusal('task_update', { task_id, status: 'in_progress' });
      const leftMs = Date.parse(String(facts['lapses_at'])) - Date.parse(String(facts['last_sign_of_life']));
      expect([code, leftMs]).toEqual(['ERR_CLAIM_HELD', 10 * MINUTE]);
      const second = await openServer(path, 'alice', { settings: TTL });
      expect(await second.updateTask({ task_id, progress: 30, claim })).toMatchObject({ holder: 'alice', claim });
      await silence(bob.database, 'alice', 30 * MINUTE);
      expect((await bob.refusal('task_update', { task_id, status: 'in_progress' })).code).toBe('ERR_CLAIM_HELD');
      await assertWhole(bob.database);
      await second.close();
      await bob.close();
    }),
  );
});

describe('a fencing token', () => {
  promiseTest('claims/token', 'a stale token is refused even under the name of the holder', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      const { task_id, claim } = await claimed(alice);
      await silenceOf('alice', 2 * HOUR);
      await bob.updateTask({ task_id, status: 'in_progress' });
      await silenceOf('bob', 2 * HOUR);
      const { claim: second } = await alice.updateTask({ task_id, status: 'in_progress' });
      for (const token of [claim, 0, Number.MAX_SAFE_INTEGER]) {
        const { code, facts } = await alice.refusal('task_update', { task_id, progress: 5, claim: token });
        expect([code, facts['claim']]).toEqual(['ERR_CLAIM_LOST', second]);
      }
      expect(await alice.updateTask({ task_id, progress: 5, claim: second })).toMatchObject({ claim: second });
    }, TTL),
  );

  promiseTest('claims/token', 'tokens only rise, and a restart after blocked gets a new one', () =>
    withCrew(async ({ alice }) => {
      const { task_id, claim } = await claimed(alice);
      await alice.updateTask({ task_id, status: 'blocked', blocked_reason: 'x', claim });
      const { claim: next = -1 } = await alice.updateTask({ task_id, status: 'in_progress', claim });
      expect(next).toBeGreaterThan(claim);
      expect((await alice.refusal('task_update', { task_id, progress: 1, claim })).code).toBe('ERR_CLAIM_LOST');
      await alice.updateTask({ task_id, status: 'review', claim: next });
    }),
  );

  promiseTest('claims/token', 'a malformed token is bad input', () =>
    withCrew(async ({ alice }) => {
      const { task_id } = await claimed(alice);
      for (const claim of [-1, 1.5, '7', null, true, {}, [], Number.MAX_SAFE_INTEGER + 1])
        expect((await alice.refusal('task_update', { task_id, progress: 1, claim })).code).toBe('INVALID_PARAMS');
      expect((await alice.refusal('task_update', { task_id, claim: 3 })).code).toBe('INVALID_PARAMS');
    }),
  );

  promiseTest('claims/token', 'a token for a task that was never claimed is refused', () =>
    withCrew(async ({ alice }) => {
      const { task_id } = await alice.createTask({ title: 'free', status: 'todo' });
      const { code, facts } = await alice.refusal('task_update', { task_id, priority: 'low', claim: 1 });
      expect([code, facts['claim'], facts['taken_by']]).toEqual(['ERR_CLAIM_LOST', null, null]);
    }),
  );
});

describe('a takeover', () => {
  promiseTest('claims/takeover', 'of two agents that take over at once exactly one gets the task', () =>
    withCrew(async ({ alice, bob, carol, silence: silenceOf }) => {
      const { task_id } = await claimed(alice);
      await silenceOf('alice', 2 * HOUR);
      const replies = await Promise.all(
        [bob, carol].map((agent) => agent.call('task_update', { task_id, status: 'in_progress' })),
      );
      expect(replies.map(({ failure }) => failure?.code ?? 'ok').toSorted()).toEqual(['ERR_CLAIM_HELD', 'ok']);
    }, TTL),
  );

  promiseTest('claims/takeover', 'a lapsed task that another agent sends on shows who lost it', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      for (const [status, holder] of [
        ['review', undefined],
        ['cancelled', undefined],
        ['blocked', 'bob'],
      ] as const) {
        const { task_id } = await claimed(alice);
        await silenceOf('alice', 2 * HOUR);
        const taken = await bob.updateTask({
          task_id,
          status,
          ...(status === 'blocked' ? { blocked_reason: 'x' } : {}),
        });
        expect([taken.taken_from, taken.holder]).toEqual(['alice', holder]);
      }
    }, TTL),
  );

  promiseTest('claims/takeover', 'fields of a lapsed task can be corrected without taking it over', () =>
    withCrew(async ({ alice, bob, silence: silenceOf }) => {
      const { task_id, claim } = await claimed(alice);
      await silenceOf('alice', 2 * HOUR);
      expect(await bob.updateTask({ task_id, assignee: 'carol' })).toMatchObject({
        holder: 'alice',
        assignee: 'carol',
      });
      expect(await alice.updateTask({ task_id, progress: 7, claim })).toMatchObject({ holder: 'alice' });
    }, TTL),
  );
});
