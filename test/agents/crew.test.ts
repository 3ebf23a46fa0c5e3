import { join } from 'node:path';
import { describe, expect, inject, onTestFinished } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { changedTask } from '../../src/domains/tasks/change.ts';
import { findTokenedTask, updateTask } from '../../src/domains/tasks/repository.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { withCrew } from '../support/crew/crew.ts';
import { tempFolder } from '../support/folders.ts';
import { enterEvent, exitEvent, processIdOf } from '../support/ledger.ts';
import { databaseAt, ledgerAt } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer } from '../support/test-server.ts';
import { judgeNames } from './crew/name-referee.ts';
import { judge } from './crew/referee.ts';
import { RestartingCrew } from './crew/restarting-crew.ts';
import { SimulatedCrew } from './crew/simulated-crew.ts';

const TTL = { ttl: '1s', ttlMs: 1000 };
const SIZE =
  inject('run') === 'torture' ? { agents: 8, tasks: 500, accidents: 400 } : { agents: 8, tasks: 20, accidents: 10 };

describe('a simulated crew', () => {
  for (const seed of inject('run') === 'torture' ? [1, 2, 3] : [1])
    promiseTest('agents/crew', `${SIZE.agents} agents, ${SIZE.tasks} tasks, seed ${seed}`, async () => {
      const path = join(tempFolder(), 'colibri.db');
      const crew = new SimulatedCrew({ ...SIZE, ...TTL, seed, place: await ledgerAt(path) });
      await crew.run();
      expect(crew.surprises).toEqual([]);
      const database = await openFinished(path);
      const verdict = await database.read((reader) =>
        judge(reader, { ttlMs: TTL.ttlMs, trueTimeOf: (at) => crew.trueTimeOf(at) }),
      );
      expect(verdict.problems).toEqual([]);
      expect(verdict.done).toBe(SIZE.tasks);
      // At least that of the agent that never came back.
      expect(verdict.takeovers).toBeGreaterThanOrEqual(1);
      // The poll that offered it: without one, the referee has judged nothing about the time of a takeover.
      expect(verdict.latePolls).toBeGreaterThanOrEqual(1);
      await assertWhole(database);
      if (inject('run') === 'torture') console.log(JSON.stringify({ seed, ...verdict, ...crew.accidents }));
    });
});

const RESTARTS =
  inject('run') === 'torture'
    ? { members: 8, tasks: 120, restartChance: 0.3 }
    : { members: 4, tasks: 6, restartChance: 0.3 };

describe('a crew under default names', () => {
  for (const seed of inject('run') === 'torture' ? [1, 2, 3] : [1])
    promiseTest('agents/restarts', `${RESTARTS.members} agents of one client, seed ${seed}`, async () => {
      const path = join(tempFolder(), 'colibri.db');
      const crew = new RestartingCrew({ ...RESTARTS, seed, cwd: tempFolder(), place: await ledgerAt(path) });
      await crew.run();
      expect(crew.problems).toEqual([]);
      expect(crew.counts.restarts).toBeGreaterThan(RESTARTS.members);
      expect(crew.counts.keptNames + crew.counts.newNames).toBeGreaterThan(0);
      const database = await openFinished(path);
      expect(await database.read(judgeNames)).toEqual([]);
      const done = await database.read((reader) =>
        reader.query<{ task_no: number }>("SELECT task_no FROM tasks WHERE status = 'done'"),
      );
      expect(done).toHaveLength(RESTARTS.tasks);
      await assertWhole(database);
      if (inject('run') === 'torture') console.log(JSON.stringify({ seed, ...crew.counts }));
    });
});

describe('the referee of the crew', () => {
  const judgeFor = (server: TestServer, ttlMs: number) =>
    server.database.read((reader) => judge(reader, { ttlMs, trueTimeOf: (at) => Date.parse(at) }));
  const HOURS = 3_600_000;

  promiseTest('agents/crew', 'reports a live holder that lost its task', () =>
    withCrew(async ({ alice, bob, silence }) => {
      await claimNew(alice);
      await silence('alice', 3 * HOURS);
      await bob.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      const { problems, takeovers } = await judgeFor(bob, 2 * HOURS);
      expect(takeovers).toBe(1);
      expect(problems).toContainEqual(expect.stringMatching(/^task 1: alice lost it at \d+ after \d+ ms$/));
      expect((await judgeFor(bob, 0)).problems).not.toContainEqual(expect.stringContaining('lost it'));
    }),
  );

  promiseTest('agents/crew', 'reports a thought by anyone but the last holder, and one before the claim', () =>
    withCrew(async ({ alice, bob, silence }) => {
      await claimNew(alice);
      await alice.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      await bob.recordThought({ task_id: 'T-0001', type: 'decision', content: 'By another agent.' });
      const problem = (name: string) => `task 1: ${name} held it last and recorded no thought meanwhile`;
      expect((await judgeFor(bob, 0)).problems).toContain(problem('alice'));
      await silence('alice', 3 * HOURS);
      await bob.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      expect((await judgeFor(bob, 0)).problems).toContain(problem('bob'));
      await bob.recordThought({ task_id: 'T-0001', type: 'decision', content: 'By its holder.' });
      expect((await judgeFor(bob, 0)).problems).not.toContain(problem('bob'));
    }),
  );

  promiseTest('agents/crew', 'reports a poll that did not offer a lapsed task', () =>
    withCrew(async ({ alice, bob }) => {
      await claimNew(alice);
      await alice.createTask({ title: 'free', status: 'todo' });
      await bob.nextActions();
      await bob.updateTask({ task_id: 'T-0002', status: 'in_progress' });
      const passedOver = expect.stringMatching(/^call \d+: bob was not offered T-0001, which alice had/) as string;
      // The servers use a TTL of two hours, the referee a TTL of zero.
      expect(await judgeFor(bob, 0)).toMatchObject({ latePolls: 1, problems: expect.arrayContaining([passedOver]) });
      expect(await judgeFor(bob, 2 * HOURS)).toMatchObject({ latePolls: 0 });
    }),
  );

  promiseTest('agents/restarts', 'reports two processes that call in turns under one name', () =>
    withCrew(async ({ alice }) => {
      const settings = { COLIBRI_AGENT_ID: 'alice' };
      const second = await openServer(alice.path, 'alice', { settings });
      for (const agent of [alice, second]) await agent.listTasks();
      expect(await alice.database.read(judgeNames)).toEqual([]);
      for (const agent of [alice, second]) await agent.listTasks();
      expect(await alice.database.read(judgeNames)).toEqual(['two processes at once were alice']);
      await second.close();
    }),
  );

  promiseTest('agents/crew', 'reports a second holder and a stale token', () =>
    withCrew(async ({ alice, bob }) => {
      await claimNew(alice);
      const call = { ...enterEvent('stale', '{"claim":2,"task_id":"T-0001"}'), actor: 'bob', tool: 'task_update' };
      const recorder = new CallRecorder(bob.database, processIdOf('stale'));
      await recorder.enter(call);
      await bob.database.write({ durable: false }, async (db) => {
        const before = await findTokenedTask(db, 'T-0001');
        if (before === undefined) throw new Error('the task is missing');
        const after = changedTask(before.task, { task_id: 'T-0001', progress: 7 }, 'bob', call.at);
        await updateTask(db, { before, after, isClaim: false, unmet: 0 });
      });
      await recorder.exit({ ...exitEvent('stale'), actor: 'bob', tool: 'task_update' });
      const { problems } = await judgeFor(bob, 0);
      expect(problems).toContainEqual(expect.stringMatching(/^task 1: bob changed it at \d+ while alice held it$/));
      expect(problems).toContainEqual(expect.stringMatching(/^call \d+: bob used claim 2, which it did not have$/));
    }),
  );
});

/** The ledger that a crew has left. */
async function openFinished(path: string): Promise<Database> {
  const place = await databaseAt(path);
  const database = await openDatabase({ mode: 'READONLY', ...place, durability: 'full', readOnly: true });
  onTestFinished(() => database.close());
  return database;
}

async function claimNew(agent: TestServer): Promise<void> {
  await agent.createTask({ title: 'claimed', status: 'todo' });
  await agent.updateTask({ task_id: 'T-0001', status: 'in_progress' });
}
