import { countTokens as countOld } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countNew } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect } from 'vitest';
import { MAX_BRIEF_TOKENS } from '../../src/domains/brief/brief.ts';
import type { Arguments } from '../support/agent.ts';
import { withCrew } from '../support/crew/crew.ts';
import { promiseTest } from '../support/promise-test.ts';
import { type TestServer, withServer } from '../support/test-server.ts';

describe('a brief', () => {
  promiseTest('brief/says', 'an empty ledger: nothing is ready, and how to begin', () =>
    withServer(async (server) => {
      expect(await brief(server)).toBe(
        [
          'You are tester in project default; no recent call. Your first call confirms the name, unless another agent of your client calls first.',
          'Next:',
          '- nothing is ready: call task_create {"title":…,"status":"todo"}, or task_next_actions {"include_blocked":true}',
        ].join('\n'),
      );
    }),
  );

  promiseTest('brief/says', 'a free agent: the top of the queue, and the call that claims it', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'Later', status: 'todo', priority: 'low' });
      await server.createTask({ title: 'Now', status: 'todo', priority: 'high' });
      expect(await brief(server)).toContain(
        '- claim T-0002 (Now): task_update {"task_id":"T-0002","status":"in_progress"}',
      );
    }),
  );

  promiseTest('brief/says', 'a task of the pipeline is claimed by its own next state', () =>
    withServer(
      async (server) => {
        await server.createTask({ title: 'Now' });
        expect(await brief(server)).toContain('task_update {"task_id":"T-0001","status":"GATHER"}');
      },
      { COLIBRI_WORKFLOW: 'pipeline' },
    ),
  );

  promiseTest('brief/says', 'a task of the pipeline that was sent back is claimed by the state that it has', () =>
    withCrew(
      async ({ alice, bob }) => {
        await alice.createTask({ title: 'Now' });
        for (const status of ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY'])
          await alice.updateTask({ task_id: 'T-0001', status });
        expect(await brief(bob)).toContain('- review T-0001 (Now): task_update {"task_id":"T-0001","status":"DONE"}');
        await bob.updateTask({ task_id: 'T-0001', status: 'GATHER' });
        expect(await brief(bob)).toContain('- claim T-0001 (Now): task_update {"task_id":"T-0001","status":"GATHER"}');
        expect(await bob.updateTask({ task_id: 'T-0001', status: 'GATHER' })).toMatchObject({ holder: 'bob' });
      },
      { COLIBRI_WORKFLOW: 'pipeline' },
    ),
  );

  promiseTest('brief/says', 'changes of other projects are left out', () =>
    withCrew(async ({ alice, bob }) => {
      await bob.call('task_list', {});
      await alice.createTask({ title: 'A secret of others', project: 'other' });
      await alice.createTask({ title: 'Of ours' });
      expect(await brief(bob)).toContain('Of ours');
      expect(await brief(bob)).not.toContain('A secret of others');
    }),
  );

  promiseTest('brief/says', 'the steps of a held task: session, thought, review, done', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'Parse dates', status: 'todo' });
      await server.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      expect(await nextSteps(server)).toEqual([
        'audit_session_start {"task_id":"T-0001","auditor_id":"tester"}',
        'thought_record {"task_id":"T-0001","type":"decision","content":…} before it is done',
        'when in_progress is complete: task_update {"task_id":"T-0001","status":"review"}',
      ]);
      await server.startSession({ task_id: 'T-0001', auditor_id: 'tester' });
      expect(await brief(server)).toContain('Yours:\n- T-0001 in_progress, session A-0001: Parse dates\n');
      expect(await nextSteps(server)).toHaveLength(2);
      await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'Use ISO 8601\nand nothing else.' });
      expect(await brief(server)).toContain(
        'Decision Θ-0001 on T-0001 by tester:\n> Use ISO 8601\n> and nothing else.\n',
      );
      expect(await nextSteps(server)).toEqual([
        'when in_progress is complete: task_update {"task_id":"T-0001","status":"review"}',
      ]);
      await server.updateTask({ task_id: 'T-0001', status: 'blocked', blocked_reason: 'the vendor is silent' });
      expect(await nextSteps(server)).toEqual([
        'to unblock it: task_update {"task_id":"T-0001","status":"in_progress"}',
        'task_get {"task_id":"T-0001"} shows the reason',
      ]);
    }),
  );

  promiseTest('brief/says', 'every step that it names is accepted', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'Parse dates', status: 'todo' });
      for (const wanted of ['in_progress', 'review', 'done']) {
        for (const step of await nextSteps(server)) {
          const [, tool = '', input = ''] = /(\w+) (\{.*\})/.exec(step) ?? [];
          if (tool === '') continue;
          const { failure } = await server.call(tool, JSON.parse(input.replace('…', '"because"')) as Arguments);
          expect(failure, step).toBeUndefined();
        }
        expect(await server.getTask({ task_id: 'T-0001' })).toMatchObject({ status: wanted });
      }
      expect(await nextSteps(server)).toMatchObject([expect.stringContaining('nothing is ready')]);
    }),
  );

  promiseTest('brief/says', 'what others changed since the last call, and not what the agent changed itself', () =>
    withCrew(async ({ alice, bob }) => {
      await alice.createTask({ title: 'Mine' });
      expect(await brief(alice)).not.toContain('Changed');
      await bob.createTask({ title: 'His' });
      expect(await brief(alice)).toContain('Changed by others since your last call:\n- T-0002 backlog, by bob: His\n');
      await alice.nextActions();
      expect(await brief(alice)).not.toContain('Changed');
    }),
  );

  promiseTest('brief/says', 'a lapsed claim: to the others what can be taken over, to its agent what it lost', () =>
    withCrew(
      async ({ alice, bob, silence }) => {
        await alice.createTask({ title: 'Parse dates', status: 'todo' });
        await alice.updateTask({ task_id: 'T-0001', status: 'in_progress' });
        expect(await brief(bob)).not.toContain('Lapsed');
        expect(await brief(alice)).toContain('Yours:\n- T-0001 in_progress: Parse dates\n');
        await silence('alice', 3 * 3_600_000);
        expect(await brief(alice)).toContain(
          'Yours:\n- T-0001 in_progress, lapsed until your next call: Parse dates\n',
        );
        expect(await brief(bob)).toMatch(
          /^Lapsed, can be taken over:\n- T-0001 of alice, silent for 18\d min: Parse dates$/m,
        );
        const [step = ''] = await nextSteps(bob);
        expect(step).toContain('claim T-0001');
        const input = JSON.parse(/\{.*\}/.exec(step)?.[0] ?? '') as Arguments;
        expect(await bob.updateTask(input)).toMatchObject({ taken_from: 'alice', holder: 'bob' });
        expect(await brief(alice)).toContain('Lost, do not continue:\n- T-0001 taken by bob: Parse dates\n');
        expect(await brief(alice)).not.toContain('Yours:');
        expect(await brief(bob)).toContain('Yours:\n- T-0001 in_progress: Parse dates\n');
      },
      { COLIBRI_CLAIM_TTL: '2h' },
    ),
  );
});

describe('the last call of an agent', () => {
  for (const clientName of ['ünï 😀', 'quote " and \\', '%', '日本語のエージェント'])
    promiseTest('brief/says', `an agent named ${clientName}`, () =>
      withServer(
        async (server) => {
          await server.createTask({ title: 'One' });
          const [last] = await server.query<{ idx: number }>('SELECT MAX(sequence_no) AS idx FROM calls');
          expect(await brief(server)).toMatch(new RegExp(`; last call [\\d:TZ.-]+, entry ${last?.idx}\\.`));
        },
        { clientName },
      ),
    );
});

describe('resources and prompts', () => {
  promiseTest('brief/resources', 'a task reads as task_get shows it, with its trail', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'Parse dates' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'tester' });
      await server.recordThought({ task_id: 'T-0001', type: 'risk', content: 'Leap seconds.' });
      const shown = JSON.parse(await server.readResource('colibri://task/T-0001')) as unknown;
      expect(shown).toEqual(await server.getTask({ task_id: 'T-0001', include_thought_trail: true }));
    }),
  );

  promiseTest(
    'brief/short',
    'a task with a long trail, as a resource and in prompts: the newest thoughts, and how to get all',
    () =>
      withServer(async (server) => {
        await server.createTask({ title: '"\\'.repeat(100), description: '日付の解析\n"'.repeat(300) });
        await server.startSession({ task_id: 'T-0001', auditor_id: 'tester' });
        for (let turn = 1; turn <= 12; turn += 1)
          await server.recordThought({
            task_id: 'T-0001',
            type: 'decision',
            content: `Turn ${turn}. ${'Use ISO 8601. '.repeat(300)}`,
          });
        const resource = await server.readResource('colibri://task/T-0001');
        expect(JSON.parse(resource)).toMatchObject({ task_id: 'T-0001', status: 'backlog' });
        const { thought_trail } = JSON.parse(resource) as { readonly thought_trail: string[] };
        expect(thought_trail.at(-1)).toContain('Turn 12. Use ISO 8601.');
        for (const text of [
          resource,
          await prompt(server, 'hand_over', { task_id: 'T-0001', to: 'bob' }),
          await prompt(server, 'audit_task', { task_id: 'T-0001' }),
        ]) {
          for (const count of [countOld, countNew]) expect(count(text)).toBeLessThanOrEqual(MAX_BRIEF_TOKENS);
          expect(text).toContain('"task_id":"T-0001"');
          expect(text).toContain('call task_get with include_thought_trail for all of it');
        }
      }),
  );

  promiseTest('brief/resources', 'reading adds no entry and changes no row', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'Parse dates' });
      const before = await server.query('SELECT size, tail FROM ledger_head');
      await brief(server);
      await server.readResource('colibri://task/T-0001');
      for (const { name } of (await server.client.listPrompts()).prompts)
        await server.client.getPrompt({ name, arguments: name === 'brief' ? {} : { task_id: 'T-0001' } });
      expect(await server.query('SELECT size, tail FROM ledger_head')).toEqual(before);
    }),
  );

  promiseTest('brief/resources', 'the steps of hand_over release the claim for the next agent', () =>
    withCrew(async ({ alice, bob }) => {
      await alice.createTask({ title: 'Parse dates', status: 'todo' });
      await alice.updateTask({ task_id: 'T-0001', status: 'in_progress' });
      expect(await prompt(alice, 'hand_over', { task_id: 'T-0001' })).toContain('"assignee":"unassigned"');
      const text = await prompt(alice, 'hand_over', { task_id: 'T-0001', to: 'bob' });
      expect(text).toContain('"title":"Parse dates"');
      const steps = [...text.matchAll(/task_update (\{[^}]*\})/g)].map(
        ([, input = '']) => JSON.parse(input) as Arguments,
      );
      expect(steps).toHaveLength(2);
      for (const input of steps) await alice.updateTask(input);
      expect(await bob.updateTask({ task_id: 'T-0001', status: 'in_progress' })).toMatchObject({ assignee: 'bob' });
    }),
  );

  for (const uri of [
    'colibri://task/T-0009',
    'colibri://task/',
    'colibri://task/%',
    'colibri://task/%E0%A4%A',
    'colibri://task/T-0001/more',
    'colibri://task/../brief',
    'colibri://brief/',
    'colibri://brief?agent=codex',
    'COLIBRI://BRIEF',
    'colibri://',
    'colibri://tasks',
    'file:///etc/passwd',
    'brief',
    '',
    'x'.repeat(10_000),
  ])
    promiseTest('brief/refusals', `resource ${uri.slice(0, 40) || '(empty)'}`, () =>
      withServer(async (server) => {
        await server.createTask({ title: 'Parse dates' });
        await expect(server.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
        expect(await brief(server)).toContain('You are tester');
      }),
    );

  for (const [name, args, why] of [
    ['nothing', {}, /Unknown prompt/],
    ['toString', {}, /Unknown prompt/],
    ['brief', { agent: 'codex' }, /agent is not an argument/],
    ['hand_over', {}, /task_id is missing/],
    ['hand_over', { task_id: '' }, /task_id is missing/],
    ['hand_over', { task_id: 'T-0009' }, /no task T-0009/],
    ['hand_over', { task_id: 'T-0001', form: 'codex' }, /form is not an argument/],
    ['audit_task', { task_id: 'x'.repeat(257) }, /more than 256 characters/],
    ['audit_task', { task_id: 'x'.repeat(256) }, /no task x/],
    ['audit_task', { task_id: 'T-0001', to: 'codex' }, /to is not an argument/],
  ] as const)
    promiseTest('brief/refusals', `prompt ${name} ${JSON.stringify(args).slice(0, 40)}`, () =>
      withServer(async (server) => {
        await server.createTask({ title: 'Parse dates' });
        const refusal = expect(server.client.getPrompt({ name, arguments: args })).rejects;
        await refusal.toMatchObject({ code: -32602, message: expect.stringMatching(why) });
      }),
    );
});

function brief(server: TestServer): Promise<string> {
  return server.readResource('colibri://brief');
}

async function nextSteps(server: TestServer): Promise<string[]> {
  const [, steps = ''] = (await brief(server)).split('Next:\n');
  return steps.split('\n').map((line) => line.replace(/^- /, ''));
}

async function prompt({ client }: TestServer, name: string, args: Record<string, string>): Promise<string> {
  const { messages } = await client.getPrompt({ name, arguments: args });
  const content = messages[0]?.content;
  if (content?.type !== 'text') throw new Error('the prompt has no text');
  return content.text;
}
