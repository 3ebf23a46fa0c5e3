import { describe, expect } from 'vitest';
import { type ClientProcess, withClientProcesses } from '../support/clients/client-processes.ts';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';

/** The name that a call of this agent is recorded with. */
async function nameOf(agent: ClientProcess): Promise<string> {
  return (await agent.createTask({ title: 'a task', status: 'todo' })).created_by;
}

describe('the names of agents', () => {
  promiseTest('agents/names', 'also if eight processes make their first calls at the same moment', () =>
    withClientProcesses(async (launch) => {
      const agents = await Promise.all(Array.from({ length: 8 }, () => launch('claude-code')));
      const names = await Promise.all(agents.map(nameOf));
      const expected = ['claude-code', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `claude-code#${number}`)];
      expect(names.toSorted()).toEqual(expected);
      expect(await Promise.all(agents.map(nameOf))).toEqual(names);
    }),
  );

  promiseTest('agents/names', 'the loser of a race for a task reads the name of the winner', () =>
    withClientProcesses(async (launch) => {
      const [first, second] = await Promise.all([launch('cursor'), launch('cursor')]);
      await nameOf(first);
      const claim = { task_id: 'T-0001', status: 'in_progress' };
      const replies = await Promise.all([first.call('task_update', claim), second.call('task_update', claim)]);
      const winner = replies.findIndex(({ failure }) => failure === undefined);
      const names = [await nameOf(first), await nameOf(second)];
      expect(names.toSorted()).toEqual(['cursor', 'cursor#2']);
      expect(replies[1 - winner]?.failure?.message).toContain(names[winner]);
      expect(replies[1 - winner]?.failure?.message).not.toContain(`${names[1 - winner]};`);
    }),
  );

  promiseTest('agents/names', 'for the life of the process, whichever other agents end', () =>
    withClientProcesses(async (launch) => {
      const first = await launch('codex');
      expect(await nameOf(first)).toBe('codex');
      const second = await launch('codex');
      expect(await nameOf(second)).toBe('codex#2');
      await first.close();
      expect(await nameOf(second)).toBe('codex#2');
    }),
  );

  promiseTest('agents/names', 'the brief that is read before the first call has the name of that call', () =>
    withClientProcesses(async (launch) => {
      const first = await launch('claude-code');
      await nameOf(first);
      await first.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      const second = await launch('claude-code');
      const prompt = async () => JSON.stringify(await second.client.getPrompt({ name: 'brief' }));
      for (const brief of [await second.readResource('colibri://brief'), await prompt()]) {
        expect(brief).toContain('You are claude-code#2 in');
        expect(brief).not.toContain('Yours:');
      }
      expect(await nameOf(second)).toBe('claude-code#2');
      await first.kill();
      const next = await launch('claude-code');
      const brief = await next.readResource('colibri://brief');
      expect(brief).toMatch(/^You are claude-code in .*\nYours:\n- T-0001 /);
      expect(await nameOf(next)).toBe('claude-code');
    }),
  );

  promiseTest('agents/names', 'different clients do not affect each other', () =>
    withClientProcesses(async (launch) => {
      const names = ['zed', 'zed#2', 'zed-x', 'unknown'];
      for (const name of names) expect(await nameOf(await launch(name))).toBe(name);
      // The name of another client is taken, so the number after it is next.
      expect(await nameOf(await launch('zed'))).toBe('zed#3');
      expect(await nameOf(await launch('zed#2'))).toBe('zed#2#2');
    }),
  );

  promiseTest('agents/names', 'a configured id is used as it is, also twice', () =>
    withClientProcesses(async (launch) => {
      const env = { COLIBRI_AGENT_ID: 'backend' };
      expect(await nameOf(await launch('claude-code', { env }))).toBe('backend');
      expect(await nameOf(await launch('claude-code', { env }))).toBe('backend');
      expect(await nameOf(await launch('claude-code'))).toBe('claude-code');
      expect(await nameOf(await launch('backend'))).toBe('backend#2');
    }),
  );

  promiseTest('init/agent-ids', 'among live agents, and the next server takes its name up again', () =>
    withClientProcesses(async (launch) => {
      const env = { COLIBRI_AGENT_ID: 'backend#' };
      const agents = [await launch('claude-code', { env }), await launch('cursor', { env })] as const;
      expect([await nameOf(agents[0]), await nameOf(agents[1])]).toEqual(['backend', 'backend#2']);
      const claim = { task_id: 'T-0001', status: 'in_progress' };
      const replies = await Promise.all(agents.map((agent) => agent.call('task_update', claim)));
      const winner = replies.findIndex(({ failure }) => failure === undefined);
      expect(replies[1 - winner]?.failure?.facts['holder']).toBe(['backend', 'backend#2'][winner]);
      await agents[winner]?.close();
      const next = await launch('claude-code', { env });
      expect(await next.updateTask({ task_id: 'T-0001', progress: 10 })).toMatchObject({ status: 'in_progress' });
    }),
  );

  promiseTest('agents/names', 'no client passes for a person, for the recorder, for no one or for another line', () =>
    withClientProcesses(async (launch) => {
      expect(await nameOf(await launch('person:alice'))).toBe('person-alice');
      expect(await nameOf(await launch('Person\uff1aroot'))).toBe('Person-root');
      expect(await nameOf(await launch('hook:git'))).toBe('hook-git');
      expect(await nameOf(await launch('Colibri'))).toBe('colibri-client');
      expect(await nameOf(await launch('unassigned'))).toBe('unknown');
      expect(await nameOf(await launch('a\nb\u001b[2J'))).toBe('a\uFFFDb\uFFFD[2J');
    }),
  );

  for (const how of ['close', 'kill'] as const)
    promiseTest('agents/same-name', `beside others that run on, after ${how}`, () =>
      withClientProcesses(async (launch) => {
        const agents = [await launch('claude-code'), await launch('claude-code'), await launch('claude-code')];
        for (const agent of agents) await nameOf(agent);
        await agents[1]?.[how]();
        expect(await nameOf(await launch('claude-code'))).toBe('claude-code#2');
        await agents[0]?.[how]();
        expect(await nameOf(await launch('claude-code'))).toBe('claude-code');
      }),
    );

  promiseTest('claims/restart', 'two agents of one client, whichever comes back first', () =>
    withClientProcesses(async (launch) => {
      const claim = async (agent: ClientProcess) => {
        const { task_id } = await agent.createTask({ title: 'a task', status: 'todo' });
        return { task_id, claim: (await agent.updateTask({ task_id, status: 'in_progress' })).claim };
      };
      const before = [await launch('claude-code'), await launch('claude-code')] as const;
      const first = await claim(before[0]);
      const second = await claim(before[1]);
      await Promise.all(before.map((agent) => agent.kill()));
      const [one, two] = [await launch('claude-code'), await launch('claude-code')];
      const refused = await one.call('task_update', { task_id: second.task_id, status: 'cancelled' });
      expect(refused.failure).toMatchObject({ code: 'ERR_CLAIM_HELD' });
      expect(refused.failure?.message).toContain('send "status":"in_progress" and the "claim" that you got for it;');
      expect(refused.failure?.facts).not.toHaveProperty('claim');
      const guess = { ...second, claim: (second.claim ?? 0) + 1, status: 'cancelled' };
      expect((await one.call('task_update', guess)).failure).toMatchObject({ code: 'ERR_CLAIM_LOST' });
      expect(await two.updateTask({ ...second, status: 'in_progress' })).toMatchObject({ taken_from: 'claude-code#2' });
      const reviewed = await one.updateTask({ ...first, status: 'review' });
      expect(reviewed).toMatchObject({ taken_from: 'claude-code', claim: expect.any(Number) as number });
      expect(reviewed).not.toHaveProperty('holder');
      expect((await one.getTask({ task_id: first.task_id })).updated_at).toBe(reviewed.updated_at);
    }),
  );

  promiseTest('claims/restart', 'two agents of one client behind wrappers, with all that each held', () =>
    withClientProcesses(async (launch) => {
      const start = () => launch('claude-code', { isWrapped: true });
      const claim = async (agent: ClientProcess) => {
        const { task_id } = await agent.createTask({ title: 'a task', status: 'todo' });
        return { task_id, claim: (await agent.updateTask({ task_id, status: 'in_progress' })).claim };
      };
      const before = [await start(), await start()] as const;
      const first = [await claim(before[0]), await claim(before[0])] as const;
      const second = await claim(before[1]);
      await Promise.all(before.map((agent) => agent.close()));
      const [one, two] = [await start(), await start()];
      const brief = await one.readResource('colibri://brief');
      expect(brief).not.toContain('Yours:');
      for (const [{ task_id }, holder] of [[first[0], 'claude-code'] as const, [second, 'claude-code#2'] as const])
        expect(brief.split('Perhaps yours,')[1]).toContain(`- ${task_id} in_progress of ${holder}: a task\n`);
      expect(brief).toContain(
        `task_update {"task_id":"${second.task_id}","status":"in_progress","claim":…} with the claim`,
      );
      const [cancelled, failure] = [{ status: 'cancelled' }, { failure: { code: 'ERR_CLAIM_HELD' } }];
      expect(await one.call('task_update', { task_id: second.task_id, ...cancelled })).toMatchObject(failure);
      for (const task of first)
        expect(await one.updateTask({ ...task, status: 'in_progress' })).toMatchObject({ taken_from: 'claude-code' });
      // What is continued is the agent's own; what the other agent held is not offered to it any more.
      expect(await one.readResource('colibri://brief')).toMatch(/Yours:\n- T-000\d in_progress: a task\n/);
      expect(await one.readResource('colibri://brief')).not.toContain('Perhaps yours');
      expect(await two.updateTask({ ...second, status: 'review' })).toMatchObject({ task_id: second.task_id });
    }),
  );

  promiseTest(
    'claims/held',
    'a token gives it neither to an agent that worked beside the holder nor to a busy one',
    () =>
      withClientProcesses(async (launch) => {
        const [holder, beside] = [await launch('claude-code'), await launch('claude-code')];
        for (const agent of [holder, beside]) await nameOf(agent);
        const { claim } = await holder.updateTask({ task_id: 'T-0001', status: 'in_progress' });
        const next = await launch('claude-code');
        await next.updateTask({ task_id: 'T-0002', status: 'in_progress' });
        await holder.close();
        const proof = { task_id: 'T-0001', status: 'in_progress', claim };
        for (const agent of [beside, next]) {
          const { failure } = await agent.call('task_update', proof);
          expect(failure).toMatchObject({ code: 'ERR_CLAIM_HELD', message: expect.not.stringContaining('restarted') });
        }
        await next.updateTask({ task_id: 'T-0002', status: 'review' });
        expect(await next.updateTask(proof)).toMatchObject({ taken_from: 'claude-code' });
      }),
  );

  for (const isWrapped of [false, true])
    promiseTest(
      'claims/restart',
      `beside one that held nothing, whichever comes back first, ${isWrapped ? 'behind wrappers' : 'directly'}`,
      () =>
        withClientProcesses(async (launch) => {
          const start = () => launch('claude-code', { isWrapped });
          const before = [await start(), await start()] as const;
          for (const agent of before) await nameOf(agent);
          const { claim } = await before[0].updateTask({ task_id: 'T-0001', status: 'in_progress' });
          await Promise.all(before.map((agent) => (isWrapped ? agent.close() : agent.kill())));
          const [other, holder] = [await start(), await start()];
          expect(await other.readResource('colibri://brief')).not.toContain('Yours:');
          expect([await nameOf(other), await nameOf(holder)]).toEqual(['claude-code#3', 'claude-code#4']);
          const update = { task_id: 'T-0001', status: 'in_progress' };
          const refused = await other.call('task_update', { ...update, status: 'cancelled' });
          expect(refused.failure).toMatchObject({ code: 'ERR_CLAIM_HELD' });
          expect(await holder.updateTask({ ...update, claim })).toMatchObject({ taken_from: 'claude-code' });
        }),
    );

  promiseTest('agents/names', 'two that read their brief before any call learn that the name may still change', () =>
    withClientProcesses(async (launch) => {
      const agents = [await launch('claude-code'), await launch('claude-code')] as const;
      const brief = (agent: ClientProcess) => agent.readResource('colibri://brief');
      const notice = 'unless another agent of your client calls first';
      for (const agent of agents) expect((await brief(agent)).split('\n')[0]).toContain(notice);
      const [second, first] = [await nameOf(agents[1]), await nameOf(agents[0])];
      expect([second, first]).toEqual(['claude-code', 'claude-code#2']);
      for (const [index, name] of [first, second].entries()) {
        expect(await brief(agents[index] as ClientProcess)).toMatch(new RegExp(`^You are ${name} in `));
        expect(await brief(agents[index] as ClientProcess)).not.toContain(notice);
      }
      const configured = await launch('claude-code', { env: { COLIBRI_AGENT_ID: 'backend' } });
      expect(await brief(configured)).toMatch(/^You are backend in /);
      expect(await brief(configured)).not.toContain('calls first');
    }),
  );

  promiseTest('claims/restart', 'an agent whose next server calls before the last one has ended', () =>
    withClientProcesses(async (launch) => {
      const last = await launch('claude-code');
      await nameOf(last);
      const { claim } = await last.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      const proof = { task_id: 'T-0001', status: 'in_progress', claim };
      const next = await launch('claude-code');
      const others = [await launch('claude-code', { cwd: tempFolder() }), await launch('cursor')];
      const refusal = async (agent: ClientProcess) => (await agent.call('task_update', proof)).failure?.code;
      expect(await refusal(next)).toBe('ERR_CLAIM_HELD');
      await last.kill();
      for (const other of others) expect(await refusal(other)).toBe('ERR_CLAIM_HELD');
      // A database across a network needs a moment to see that a process is gone.
      await expect
        .poll(async () => (await next.call('task_update', proof)).data, { timeout: 10_000 })
        .toMatchObject({ holder: 'claude-code#2', taken_from: 'claude-code' });
    }),
  );

  promiseTest('agents/same-name', 'an agent that holds a task keeps its name from agents of other folders', () =>
    withClientProcesses(async (launch) => {
      const first = await launch('claude-code');
      await nameOf(first);
      await first.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      await first.kill();
      const elsewhere = await launch('claude-code', { cwd: tempFolder() });
      expect(await nameOf(elsewhere)).toBe('claude-code#2');
      const next = await launch('claude-code');
      expect(await nameOf(next)).toBe('claude-code');
    }),
  );
});
