import { countTokens as countOld } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countNew } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect } from 'vitest';
import { MAX_BRIEF_TOKENS } from '../../src/domains/brief/brief.ts';
import { type Losses, listLosses } from '../../src/domains/tasks/claims/losses.ts';
import { withCrew } from '../support/crew/crew.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

const BRIEF = 'colibri://brief';

describe('what is next', () => {
  promiseTest('brief/says', 'an agent without work in its own project: which other projects have some', () =>
    withServer(async (server) => {
      const next = async () => (await server.readResource(BRIEF)).split('Next:\n')[1];
      for (const project of ['zoo', 'web', 'api', 'web', 'blue'])
        await server.createTask({ title: 'Elsewhere', status: 'todo', project });
      await server.createTask({ title: 'Not ready', project: 'ant' });
      await server.createTask({ title: 'Waits', project: 'ant', status: 'todo', depends_on: ['T-0006'] });
      expect(await next()).toMatch(
        /^- nothing is ready here, but in api, blue, web: task_next_actions {"project":"api"}\n- or call task_create .*$/,
      );
      await server.createTask({ title: 'Here', status: 'todo' });
      expect(await next()).toMatch(/^- claim T-0008 .*\n- or call task_next_actions for the whole queue$/);
    }),
  );
});

describe('what is yours', () => {
  promiseTest('brief/says', 'what the agent holds, even if it is assigned to another, and what it has in review', () =>
    withCrew(async ({ alice, bob }) => {
      for (const title of ['Given to bob', 'Assigned only', 'In review', 'Finished'])
        await alice.createTask({ title, status: 'todo' });
      await alice.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      await alice.updateTask({ task_id: 'T-0001', assignee: 'bob' });
      await bob.updateTask({ task_id: 'T-0002', assignee: 'alice' });
      await alice.updateTask({ task_id: 'T-0003', status: 'in_progress' });
      await alice.updateTask({ task_id: 'T-0003', status: 'review' });
      await alice.updateTask({ task_id: 'T-0004', status: 'in_progress' });
      await alice.updateTask({ task_id: 'T-0004', status: 'cancelled' });
      const yours = async (server: TestServer) =>
        /Yours:\n((?:- .*\n)*)/.exec(await server.readResource(BRIEF))?.[1] ?? '';
      expect(await yours(alice)).toBe('- T-0001 in_progress: Given to bob\n- T-0003 review: In review\n');
      expect(await yours(bob)).toBe('');
      await alice.call('task_list', {});
      for (const [index, title] of ['A', 'B', 'C', 'D', 'E'].entries()) {
        await bob.createTask({ title, status: 'todo' });
        await alice.updateTask({ task_id: `T-000${index + 5}`, status: 'in_progress' });
      }
      expect((await yours(alice)).split('\n')).toHaveLength(7);
      expect(await yours(alice)).toContain('- call task_list for the rest\n');
    }),
  );
});

describe('what lapsed', () => {
  promiseTest('brief/says', 'lapsed claims of others, however many tasks are free', () =>
    withCrew(
      async ({ alice, bob, silence }) => {
        await alice.createTask({ title: 'Left behind', status: 'todo', priority: 'low' });
        await alice.updateTask({ task_id: 'T-0001', status: 'in_progress' });
        for (let number = 1; number <= 21; number += 1) await bob.createTask({ title: 'Free', status: 'todo' });
        await silence('alice', 3 * 3_600_000);
        expect(await bob.readResource(BRIEF)).toMatch(
          /^Lapsed, can be taken over:\n- T-0001 of alice, silent for 180 min: Left behind$/m,
        );
        expect(await alice.readResource(BRIEF)).not.toContain('can be taken over');
      },
      { COLIBRI_CLAIM_TTL: '2h' },
    ),
  );
});

describe('what was lost', () => {
  promiseTest('brief/says', 'a loss is named after another takeover and in review, then until the next call', () =>
    withCrew(
      async ({ alice, bob, carol, silence }) => {
        const task_id = 'T-0001';
        await alice.createTask({ title: 'Passed on', status: 'todo' });
        await alice.updateTask({ task_id, status: 'in_progress' });
        await silence('alice', 3 * 3_600_000);
        await bob.updateTask({ task_id, status: 'in_progress' });
        await silence('bob', 3 * 3_600_000);
        await carol.updateTask({ task_id, status: 'in_progress' });
        const lost = async (server: TestServer) =>
          /^Lost, do not continue:\n- (.*)$/m.exec(await server.readResource(BRIEF))?.[1];
        const expected = ['T-0001 taken by bob: Passed on', 'T-0001 taken by carol: Passed on', undefined];
        expect([await lost(alice), await lost(bob), await lost(carol)]).toEqual(expected);
        await carol.updateTask({ task_id, status: 'review' });
        expect([await lost(alice), await lost(bob), await lost(carol)]).toEqual(expected);
        await carol.updateTask({ task_id, status: 'cancelled' });
        expect([await lost(alice), await lost(bob), await lost(carol)]).toEqual(expected);
        await alice.call('task_list', {});
        expect([await lost(alice), await lost(bob)]).toEqual([undefined, expected[1]]);
      },
      { COLIBRI_CLAIM_TTL: '2h' },
    ),
  );
});

describe('how much is read', () => {
  promiseTest('brief/says', 'the losses of the tasks that changed last, and whether there are more', () =>
    withCrew(
      async ({ alice, bob, silence }) => {
        for (const task_id of ['T-0001', 'T-0002', 'T-0003']) {
          await alice.createTask({ title: task_id, status: 'todo' });
          await alice.updateTask({ task_id, status: 'in_progress' });
        }
        await silence('alice', 3 * 3_600_000);
        for (const task_id of ['T-0001', 'T-0002', 'T-0003']) await bob.updateTask({ task_id, status: 'in_progress' });
        const read = (limit?: number) => bob.database.read((reader) => listLosses(reader, limit));
        const loss = (title: string) => ({ task_id: title, title, actor: 'alice', taken_by: 'bob' });
        const all = ['T-0003', 'T-0002', 'T-0001'].map(loss);
        const byId = ({ losses, truncated }: Losses) => ({
          ids: losses.map(({ task_id }) => task_id).toSorted(),
          truncated,
        });
        expect(byId(await read())).toEqual({ ids: ['T-0001', 'T-0002', 'T-0003'], truncated: false });
        expect((await read(3)).truncated).toBe(false);
        expect(all).toEqual(expect.arrayContaining([...(await read(2)).losses]));
        expect(await read(2)).toMatchObject({ losses: { length: 2 }, truncated: true });
      },
      { COLIBRI_CLAIM_TTL: '2h' },
    ),
  );
});

describe('a ledger full of hostile text', () => {
  for (const [name, text] of [
    ['rare characters', '𒀀𓂀𝔄𐎠'.repeat(25)],
    ['blanks and punctuation', '{[(<|>  )]}~^`;:!?'.repeat(8)],
  ] as const)
    promiseTest('brief/short', `through the resource: ${name}`, () =>
      withCrew(
        async ({ alice, bob, silence }) => {
          for (let number = 1; number <= 9; number += 1) {
            const task_id = `T-000${number}`;
            await alice.createTask({ title: text, status: 'todo' });
            const agent = number < 5 ? alice : bob;
            await agent.updateTask({ task_id, status: 'in_progress' });
            if (number % 3 > 0) continue;
            await agent.startSession({ task_id, auditor_id: 'auditor' });
            await agent.recordThought({ task_id, type: 'decision', content: text.repeat(40).slice(0, 5000) });
          }
          await silence('alice', 3 * 3_600_000);
          await silence('bob', 3 * 3_600_000);
          await alice.updateTask({ task_id: 'T-0005', status: 'in_progress' });
          await alice.updateTask({ task_id: 'T-0001', title: `${text}.` });
          await silence('alice', 3 * 3_600_000);
          await bob.createTask({ title: text, status: 'todo' });
          for (const server of [alice, bob]) {
            const shown = await server.readResource(BRIEF);
            for (const count of [countOld, countNew]) expect(count(shown)).toBeLessThanOrEqual(MAX_BRIEF_TOKENS);
            for (const part of ['Yours:', 'Decision', 'Next:']) expect(shown).toContain(part);
          }
        },
        { COLIBRI_CLAIM_TTL: '2h' },
      ),
    );
});
