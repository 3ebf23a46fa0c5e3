import { describe, expect } from 'vitest';
import { parseEntry } from '../../src/integrity/index.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer } from '../support/test-server.ts';
import { atTerminal, listCalls, withLedger } from './person-terminal.ts';

const ADA = 'person:ada';

describe('the commands of a person', () => {
  promiseTest('people/story', 'from add to done, each step with the index of its entry', () =>
    atTerminal(async ({ path, lines, run }) => {
      expect(await lines('add', 'Cache the parser', '--priority', 'high', '-l', 'speed', '-l', 'parser')).toEqual([
        'T-0001 todo: Cache the parser (entry 2)',
      ]);
      expect(await lines('start', '1')).toEqual([`T-0001 todo -> in_progress, held by ${ADA} (entry 5)`]);
      expect(await lines('edit', 't-1', '--progress', '50', '--description', 'Keep the result')).toEqual([
        'T-0001 changed: description, progress (entry 8)',
      ]);
      const noted = await run(['note', 'T-0001', '-', '--commit', 'abc1234'], 'Parsing took 40 %.\nSo it is cached.\n');
      expect([noted.status, noted.stdout]).toEqual([
        0,
        'A-0001 opened for T-0001 by colibri note (entry 11)\nΘ-0001 decision on T-0001, in A-0001 (entry 14)\n',
      ]);
      expect(await lines('block', '1', 'waits for review')).toEqual([
        `T-0001 in_progress -> blocked, held by ${ADA} (entry 17)`,
      ]);
      await lines('start', '1');
      expect(await lines('review', '1')).toEqual(['T-0001 in_progress -> review (entry 23)']);
      expect(await lines('done', '1')).toEqual(['T-0001 review -> done (entry 26)']);
      expect(await lines('seal', 't-1')).toEqual([
        expect.stringMatching(/^A-0001 sealed: 5 records, root [0-9a-f]{64} \(entry 29\)$/),
      ]);
      await withLedger(path, (database) =>
        database.read(async (reader) => {
          const rows = await reader.query<{ idx: number; entry: string }>(
            'SELECT idx, entry FROM ledger_entries WHERE idx IN (2, 5, 8, 11, 14, 17, 23, 26, 29) ORDER BY idx',
          );
          const entries = rows.map(({ entry }) => parseEntry(entry));
          expect(entries.map((entry) => entry?.kind)).toEqual([
            'task.created',
            ...Array.from({ length: 2 }, () => 'task.updated'),
            'session.started',
            'thought',
            ...Array.from({ length: 3 }, () => 'task.updated'),
            'session.finalized',
          ]);
          expect(new Set(entries.map((entry) => entry?.actor))).toEqual(new Set([ADA]));
          expect(await reader.query('SELECT content, recorded_by FROM thoughts')).toEqual([
            { content: 'Parsing took 40 %.\nSo it is cached.', recorded_by: ADA },
          ]);
        }),
      );
      expect((await listCalls(path)).every(({ actor, outcome }) => actor === ADA && outcome === 'ok')).toBe(true);
      expect(await lines('search', 'parser', 'cache')).toEqual([
        'T-0001 done        Cache the parser  default @person:ada',
      ]);
      expect(await lines('search', 'parser', '--width', '40')).toEqual(['T-0001 done        Cache the parser…']);
      const { status, stdout } = await run(['search', 'nowhere', '--json']);
      expect([status, stdout]).toEqual([1, '{"tasks":[],"total_count":0}\n']);
    }),
  );

  promiseTest('people/story', 'the pipeline has the same commands', () =>
    atTerminal(
      async ({ lines, refused }) => {
        expect(await lines('add', 'Ship it')).toEqual(['T-0001 INIT: Ship it (entry 2)']);
        expect(await lines('start', '1')).toEqual([`T-0001 INIT -> GATHER, held by ${ADA} (entry 5)`]);
        expect(await lines('edit', '1', '--status', 'ANALYZE')).toEqual([
          `T-0001 GATHER -> ANALYZE, held by ${ADA} (entry 8)`,
        ]);
        expect(await lines('edit', '1', '--status', 'PLAN', '--progress', '5')).toEqual([
          `T-0001 ANALYZE -> PLAN, held by ${ADA}; changed: progress (entry 11)`,
        ]);
        await lines('edit', '1', '--status', 'APPLY');
        expect(await lines('review', '1')).toEqual(['T-0001 APPLY -> VERIFY (entry 17)']);
        expect(await refused(1, 'block', '1', 'no')).toMatch(/T-0001 is VERIFY; .*; run colibri done T-0001$/);
        expect(await lines('cancel', '1')).toEqual(['T-0001 VERIFY -> CANCELLED (entry 22)']);
      },
      { COLIBRI_WORKFLOW: 'pipeline' },
    ),
  );

  promiseTest('people/json', '--json prints the answer of the tool with the index of the entry', () =>
    atTerminal(async ({ run }) => {
      const json = async (status: number, ...args: string[]) => {
        const ran = await run([...args, '--json']);
        expect([args, ran.status, ran.stdout.split('\n').length]).toEqual([args, status, 2]);
        return JSON.parse(ran.stdout) as unknown;
      };
      expect(await json(0, 'add', 'One')).toMatchObject({
        verdict: 'done',
        ok: true,
        data: { task_id: 'T-0001', created_by: ADA },
        entry: 2,
      });
      expect(await json(1, 'done', '1')).toMatchObject({
        verdict: 'refused',
        message: expect.stringContaining('run colibri start T-0001'),
        ok: true,
        data: { ok: false, error: { code: 'ERR_INVALID_TRANSITION', from: 'todo', to: 'done' } },
      });
      expect(await json(3, 'add', ' ')).toMatchObject({
        verdict: 'bad input',
        ok: false,
        error: { code: 'INVALID_PARAMS' },
      });
      expect(await json(0, 'call', 'server_ping')).toMatchObject({ ok: true, data: { mode: 'FULL' } });
    }),
  );

  promiseTest('people/refusals', 'each names the next command, and nothing changes', () =>
    atTerminal(async ({ path, lines, refused }) => {
      await lines('add', 'One');
      const before = await listCalls(path);
      const refusals: readonly (readonly [args: readonly string[], says: RegExp])[] = [
        [['start', '99'], /^colibri start: no task T-0099; run colibri board to see existing tasks$/],
        [['note', '99', 'why'], /^colibri note: no task T-0099; run colibri board to see existing tasks$/],
        [['seal', 'A-9'], /^colibri seal: no session A-0009.*; run colibri show/],
        [
          ['seal', 't-1'],
          /^colibri seal: T-0001 has no live session; run colibri note T-0001 "why" to open one, or colibri show/,
        ],
        [['done', '1'], /; run colibri start T-0001$/],
        [['edit', '1', '--parent', '1'], /^colibri edit: /],
        [['edit', '1', '--depends-on', '98'], /^colibri edit: no task T-0098; run colibri board/],
        [['add', 'x', '--status', 'done'], /^colibri add: a new board task can start as backlog or todo, .*--status$/],
      ];
      for (const [args, says] of refusals) expect(await refused(1, ...args)).toMatch(says);
      const calls = await listCalls(path);
      // Everything but a missing live session was asked of a tool, and is recorded.
      expect(calls.slice(before.length).map(({ outcome }) => outcome)).not.toContain('ok');
      expect(calls.slice(before.length).length).toBe(refusals.length);
      await lines('start', '1');
      await lines('review', '1');
      expect(await refused(1, 'done', '1')).toMatch(
        /^colibri done: T-0001 has no thought record that says why, since it was created; run colibri note T-0001 "why it is done" first$/,
      );
    }),
  );

  promiseTest('people/force', 'every claim state, and an override with a reason that is recorded', () =>
    atTerminal(async ({ path, lines, refused, run }) => {
      const agent = await openServer(path, 'claude-code');
      const { task_id } = await agent.createTask({ title: 'Held', status: 'todo' });
      await agent.updateTask({ task_id, status: 'in_progress' });
      const held =
        /^colibri \w+: T-0001 is held by claude-code since .*; repeat the command with --force "why" to override the claim$/;
      for (const args of [
        ['start', '1'],
        ['review', '1'],
        ['block', '1', 'no'],
        ['cancel', '1'],
        ['edit', '1', '--progress', '5'],
      ])
        expect(await refused(1, ...args)).toMatch(held);
      expect(await lines('edit', '1', '--title', 'Held by an agent')).toHaveLength(1);
      expect((await run(['start', '1', '--force'])).status).toBe(3);
      expect((await run(['start', '1', '--force', ' '])).stderr).toMatch(/^error: .*Give a reason in one line/);
      const [moved, warning] = await lines('start', '1', '--force', 'the agent hangs');
      expect(moved).toMatch(/^T-0001 in_progress, held by person:ada \(entry \d+\)$/);
      expect(warning).toBe('warning: overrode the claim of claude-code');
      expect(await agent.refusal('task_update', { task_id, progress: 10 })).toMatchObject({
        code: 'ERR_CLAIM_LOST',
        facts: { taken_by: ADA },
      });
      const [forced] = await agent.query<{ content: string }>(
        `SELECT content FROM ledger_entries WHERE content LIKE '%"force"%' ORDER BY idx DESC LIMIT 1`,
      );
      expect(JSON.parse(forced?.content ?? '')).toEqual({ task_id, status: 'in_progress', force: 'the agent hangs' });
      expect(await refused(1, 'cancel', '1', '--as', 'bob')).toMatch(
        /held by person:ada .* its claim does not lapse; repeat/,
      );
      expect(await lines('cancel', '1', '--as', 'bob', '--force', 'not needed')).toHaveLength(2);
      expect(await refused(1, 'edit', '1', '--progress', '7')).toMatch(
        /person:bob claimed T-0001 .*; run colibri show T-0001, or repeat/,
      );
      await agent.close();
    }),
  );

  promiseTest('people/call', 'all 14 tools and no other, each recorded', () =>
    atTerminal(async ({ path, lines, refused, run }) => {
      await lines('call', 'task_create', '{"title":"One","status":"todo"}');
      const [first, ...rest] = await lines('call', 'task_get', '{"task_id":"T-0001"}');
      expect([first, rest.at(-1)]).toEqual(['{', '}']);
      expect(JSON.parse([first, ...rest].join('\n'))).toMatchObject({ task_id: 'T-0001', created_by: ADA });
      expect(await refused(3, 'call', 'project_options', '{}')).toMatch(
        /^colibri call: there is no tool project_options; call one of task_create, /,
      );
      expect(await refused(3, 'call', 'task_list', '{"limit":0,"x":1}')).toMatch(
        /^colibri call: limit .*; x is not a field of this tool \(use project, .*sort_order\); run/,
      );
      expect(await refused(3, 'call', 'task_create', '{"title":"\\ud800"}')).toMatch(/half of a surrogate pair/);
      expect(await refused(1, 'call', 'audit_session_start', '{"task_id":"T-0009","auditor_id":"a"}')).toMatch(
        /no task T-0009/,
      );
      for (const json of ['{', '[]', 'null', '{"a":1}}', '"x"'])
        expect(await refused(3, 'call', 'task_list', json)).toMatch(
          /^colibri call: the input is not (?:JSON|a JSON object)/,
        );
      const piped = await run(['call', 'task_list', '-', '--json'], '{"limit":1}');
      expect(JSON.parse(piped.stdout)).toMatchObject({ ok: true, data: { total_count: 1 } });
      expect((await listCalls(path)).map(({ tool, outcome }) => [tool, outcome])).toEqual([
        ['task_create', 'ok'],
        ['task_get', 'ok'],
        ['project_options', 'UNKNOWN_TOOL'],
        ['task_list', 'INVALID_PARAMS'],
        ['task_create', 'INVALID_PARAMS'],
        ['audit_session_start', 'ERR_TASK_NOT_FOUND'],
        ['task_list', 'ok'],
      ]);
    }),
  );
});
